#include "scheduler/head/lease_table.h"

#include <algorithm>

namespace forebay::scheduler {
bool LeaseTable::issue(std::uint64_t split) {
  if (!splits_.try_emplace(split).second) return false;
  waiting_.insert(split);
  return true;
}

void LeaseTable::reopen(const std::set<std::uint64_t>& wanted, const RangeSet& finished, Time now) {
  for (const std::uint64_t split : missing()) {
    if (!wanted.contains(split)) arrived(split, now);
  }
  for (const std::uint64_t split : wanted) {
    if (!finished.contains(split) && issue(split)) again_.insert(split);
  }
}

std::vector<std::uint64_t> LeaseTable::lease(Holder holder, std::size_t count, Time now) {
  std::vector<std::uint64_t> given;
  given.reserve(std::min(count, waiting_.size()));
  while (given.size() < count && !waiting_.empty()) {
    const std::uint64_t split = *waiting_.begin();
    add(splits_.find(split), holder, now);
    given.push_back(split);
  }
  return given;
}

bool LeaseTable::adopt(Holder holder, std::uint64_t split, Time now) {
  const auto found = splits_.find(split);
  if (found == splits_.end()) return false;
  if (lease_of(found->second, holder) != found->second.end()) return true;
  if (found->second.size() >= kMostHolders) return false;
  add(found, holder, now);
  return true;
}

bool LeaseTable::lease_again(Holder holder, std::uint64_t split, Time now) {
  const auto found = splits_.find(split);
  if (found == splits_.end() || found->second.size() != 1) return false;
  if (found->second.front().holder == holder) return false;
  add(found, holder, now);
  again_.insert(split);
  return true;
}

void LeaseTable::prolong(Holder holder, std::span<const std::uint64_t> splits, Time now) {
  for (const std::uint64_t split : splits) {
    const auto found = splits_.find(split);
    if (found == splits_.end()) continue;
    const auto lease = lease_of(found->second, holder);
    if (lease == found->second.end()) continue;
    deadlines_.erase({lease->deadline, split, holder});
    lease->deadline = now + lease_;
    deadlines_.insert({lease->deadline, split, holder});
  }
}

std::optional<LeaseTable::Ended> LeaseTable::arrived(std::uint64_t split, Time now) {
  const auto found = splits_.find(split);
  if (found == splits_.end()) return std::nullopt;
  Ended ended;
  if (!found->second.empty()) ended.took = now - found->second.front().since;
  ended.holders.reserve(found->second.size());
  while (!found->second.empty()) {
    ended.holders.push_back(found->second.front().holder);
    end(found, found->second.begin());
  }
  waiting_.erase(split);
  again_.erase(split);
  splits_.erase(found);
  return ended;
}

bool LeaseTable::give_back(Holder holder, std::uint64_t split) {
  const auto found = splits_.find(split);
  if (found == splits_.end()) return false;
  const auto lease = lease_of(found->second, holder);
  if (lease == found->second.end()) return false;
  end(found, lease);
  again_.insert(split);
  return true;
}

std::vector<std::uint64_t> LeaseTable::lose(Holder holder) {
  std::vector<std::uint64_t> had = leases_of(holder);
  for (const std::uint64_t split : had) give_back(holder, split);
  return had;
}

std::vector<LeaseTable::Expired> LeaseTable::expire(Time now) {
  std::vector<Expired> expired;
  while (!deadlines_.empty() && std::get<Time>(*deadlines_.begin()) <= now) {
    const auto [deadline, split, holder] = *deadlines_.begin();
    give_back(holder, split);
    expired.push_back({holder, split});
  }
  return expired;
}

std::optional<LeaseTable::Lowest> LeaseTable::lowest() const {
  if (splits_.empty()) return std::nullopt;
  const auto& [split, leases] = *splits_.begin();
  Lowest lowest{.split = split, .holders = {}, .since = {}};
  if (!leases.empty()) lowest.since = leases.front().since;
  lowest.holders.reserve(leases.size());
  for (const Lease& lease : leases) lowest.holders.push_back(lease.holder);
  return lowest;
}

std::size_t LeaseTable::num_leases(Holder holder) const {
  const auto found = held_.find(holder);
  return found == held_.end() ? 0 : found->second.size();
}

std::vector<std::uint64_t> LeaseTable::leases_of(Holder holder) const {
  const auto found = held_.find(holder);
  if (found == held_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<std::uint64_t> LeaseTable::missing() const {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(splits_.size());
  for (const auto& [split, leases] : splits_) numbers.push_back(split);
  return numbers;
}

void LeaseTable::add(Splits::iterator split, Holder holder, Time now) {
  const Lease lease{holder, now, now + lease_};
  split->second.push_back(lease);
  deadlines_.insert({lease.deadline, split->first, holder});
  held_[holder].insert(split->first);
  waiting_.erase(split->first);
}

void LeaseTable::end(Splits::iterator split, Leases::iterator lease) {
  deadlines_.erase({lease->deadline, split->first, lease->holder});
  const auto held = held_.find(lease->holder);
  held->second.erase(split->first);
  if (held->second.empty()) held_.erase(held);
  split->second.erase(lease);
  if (split->second.empty()) waiting_.insert(split->first);
}

Result<std::set<std::uint64_t>> wanted_of(const OpenJob& open) {
  const std::uint64_t all = open.job.num_splits();
  std::uint64_t count = 0;
  for (const SplitRange& range : open.issued) {
    const bool fits = range.first <= range.last && range.last < all &&
                      range.last - range.first < LeaseTable::kMostIssued;
    if (fits) count += range.last - range.first + 1;
    if (!fits || count > LeaseTable::kMostIssued) {
      return fail(Code::kInvalid, "a trainer says to have more splits issued than there can be");
    }
  }
  std::set<std::uint64_t> wanted;
  for (const SplitRange& range : open.issued) {
    for (std::uint64_t split = range.first; split <= range.last; ++split) wanted.insert(split);
  }
  for (const std::uint64_t split : open.arrived) wanted.erase(split);
  return wanted;
}

}  // namespace forebay::scheduler
