#include "scheduler/head/straggler.h"

#include <algorithm>

namespace forebay::scheduler {

std::optional<UsualTime::Duration> UsualTime::median() const {
  if (seen_ < 8) return std::nullopt;
  auto some = last_;
  const std::size_t count = std::min(seen_, some.size());
  const auto middle = some.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(some.begin(), middle, some.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

std::optional<std::chrono::nanoseconds> StragglerRule::patience(const UsualTime& usual) const {
  const auto median = usual.median();
  if (!median) return std::nullopt;
  const std::chrono::duration<double, std::nano> many(times_usual *
                                                      static_cast<double>(median->count()));
  return std::max(at_least, std::chrono::duration_cast<std::chrono::nanoseconds>(many));
}

bool others_idle(std::uint64_t holder, const LeaseTable& leases, const Members& members) {
  if (leases.num_waiting() > 0) return false;
  return std::ranges::any_of(members.all(), [&](const auto& each) {
    const auto& [incarnation, member] = each;
    return incarnation != holder && member.may_be_leased() && member.node.capacity > 0 &&
           leases.num_leases(incarnation) == 0;
  });
}

void LowestWatch::look(const LeaseTable& leases, Time now) {
  const auto lowest = leases.lowest();
  const std::optional<std::uint64_t> split = lowest ? std::optional(lowest->split) : std::nullopt;
  if (split == split_) return;
  split_ = split;
  since_ = now;
}

std::optional<LowestWatch::Time> LowestWatch::waited_for(std::uint64_t split, Time now) const {
  return split_ == split ? std::optional(now - since_) : std::nullopt;
}

std::optional<SecondLease> second_lease(const StragglerRule& rule, const UsualTime& usual,
                                        const LeaseTable& leases, const Members& members,
                                        std::chrono::nanoseconds now) {
  const auto lowest = leases.lowest();
  const auto patience = rule.patience(usual);
  if (!lowest || lowest->holders.size() != 1 || !patience) return std::nullopt;
  if (now - lowest->since <= *patience) return std::nullopt;
  const Member* fastest = nullptr;
  for (const auto& [incarnation, member] : members.all()) {
    const std::uint64_t capacity = member.node.capacity;
    if (incarnation == lowest->holders.front() || !member.may_be_leased() || capacity == 0 ||
        leases.num_leases(incarnation) > capacity) {
      continue;
    }
    if (fastest == nullptr || member.node.rate > fastest->node.rate) fastest = &member;
  }
  if (fastest == nullptr) return std::nullopt;
  return SecondLease{lowest->split, lowest->holders.front(), fastest->node.incarnation};
}

}  // namespace forebay::scheduler
