#include "scheduler/client/wanted_splits.h"

#include <algorithm>
#include <utility>

#include "core/base/text/seconds.h"
#include "scheduler/cluster_status.h"

namespace forebay::scheduler {
namespace {

constexpr std::size_t kMostHolders = 4;  // Of one split; a head leases it to at most two at once.

}  // namespace

bool WantedSplits::issue(std::uint64_t split, Time now) {
  if (!all_.try_emplace(split, Split{.since = now}).second) return false;
  if (missing_++ == 0) silent_since_ = now;
  return true;
}

WantedSplits::Split* WantedSplits::missing(std::uint64_t split) {
  const auto found = all_.find(split);
  return found == all_.end() || found->second.has_arrived() ? nullptr : &found->second;
}

bool WantedSplits::announced(Split& split, const HolderRef& holder) {
  const bool known = std::any_of(split.holders.begin(), split.holders.end(),
                                 [&](const HolderRef& one) { return one.id() == holder.id(); });
  if (known || split.holders.size() >= kMostHolders) return false;
  split.holders.push_back(holder);
  return true;
}

void WantedSplits::on_its_way(Split& split, const HolderRef& holder, Time now) {
  split.state = Split::State::kPulling;
  split.since = now;
  std::erase(split.holders, holder);
  split.holders.insert(split.holders.begin(), holder);
}

std::vector<HolderRef> WantedSplits::arrived(std::uint64_t split, Time now) {
  Split before = std::exchange(all_[split], {.state = Split::State::kArrived, .since = now});
  --missing_;
  silent_since_ = now;
  return std::move(before.holders);
}

std::vector<std::uint64_t> WantedSplits::below(std::uint64_t end) const {
  std::vector<std::uint64_t> numbers;
  for (auto split = all_.begin(); split != all_.end() && split->first < end; ++split) {
    numbers.push_back(split->first);
  }
  return numbers;
}

std::vector<std::uint64_t> WantedSplits::late_pulls(Time now) const {
  std::vector<std::uint64_t> late;
  for (const auto& [number, split] : all_) {
    if (split.state == Split::State::kPulling && now - split.since >= pull_timeout_) {
      late.push_back(number);
    }
  }
  return late;
}

std::vector<std::uint64_t> WantedSplits::lose(ActorId holder) {
  std::vector<std::uint64_t> to_pull;
  for (auto& [number, split] : all_) {
    if (split.is_pulled_from(holder)) to_pull.push_back(number);
    std::erase_if(split.holders, [&](const HolderRef& one) { return one.id() == holder; });
  }
  return to_pull;
}

std::vector<SplitRange> WantedSplits::ranges() const {
  std::vector<SplitRange> ranges;
  for (const auto& [number, split] : all_) {
    if (ranges.empty() || ranges.back().last + 1 != number) {
      ranges.push_back({number, number});
    } else {
      ranges.back().last = number;
    }
  }
  return ranges;
}

std::vector<std::uint64_t> WantedSplits::arrived() const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, split] : all_) {
    if (split.has_arrived()) numbers.push_back(number);
  }
  return numbers;
}

void WantedSplits::count(SplitClientStatus& status) const {
  for (const auto& [number, split] : all_) {
    status.issued += split.state == Split::State::kIssued ? 1 : 0;
    status.pulling += split.state == Split::State::kPulling ? 1 : 0;
    status.arrived += split.has_arrived() ? 1 : 0;
  }
}

bool WantedSplits::is_late(const Split& split, Time now) const {
  if (split.has_arrived()) return false;
  // Making a split may take long, but transferring it may not.
  const int share = split.state == Split::State::kPulling ? 3 : 1;
  return now - split.since > pull_timeout_ / share;
}

// Finds the lowest split that is late, even if lower splits are not: a split that a worker has not
// begun must not hide a stuck one that blocks this worker. It is also possible that no split is
// late and yet none arrives, as links and workers come and go; then takes the lowest missing split.
std::string WantedSplits::describe_late(Time now) const {
  const auto describe = [now](const auto& one) {
    const bool pulling = one.second.state == Split::State::kPulling;
    return "split " + std::to_string(one.first) +
           (pulling ? " has been on its way for " : " was not announced by any worker for ") +
           format_seconds(now - one.second.since);
  };
  const auto late = std::find_if(all_.begin(), all_.end(),
                                 [&](const auto& one) { return is_late(one.second, now); });
  if (late != all_.end()) return describe(*late);
  if (missing_ == 0 || now - silent_since_ <= pull_timeout_ / 2) return {};
  const auto missing = std::find_if(all_.begin(), all_.end(),
                                    [](const auto& one) { return !one.second.has_arrived(); });
  return "no split has come for " + format_seconds(now - silent_since_) + ": " + describe(*missing);
}

}  // namespace forebay::scheduler
