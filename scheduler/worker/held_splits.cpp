#include "scheduler/worker/held_splits.h"

#include <algorithm>

namespace forebay::scheduler {

template <class Predicate>
std::vector<std::uint64_t> HeldSplits::numbers_where(Predicate predicate) const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [split, held] : all_) {
    if (predicate(split, held)) numbers.push_back(split);
  }
  return numbers;
}

HeldSplits::Held* HeldSplits::find(std::uint64_t split) {
  const auto found = all_.find(split);
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<std::uint64_t> HeldSplits::numbers() const {
  return numbers_where([](std::uint64_t, const Held&) { return true; });
}

std::vector<std::uint64_t> HeldSplits::unmade(bool unbegun) const {
  return numbers_where([&](std::uint64_t split, const Held& held) {
    return held.state == State::kMaking && !(unbegun && executor_.begun(split));
  });
}

std::vector<std::uint64_t> HeldSplits::pulled() const {
  return numbers_where(
      [](std::uint64_t, const Held& held) { return held.state == State::kPulled; });
}

std::vector<std::uint64_t> HeldSplits::to_announce_again(Time now, Time after) const {
  return numbers_where([&](std::uint64_t, const Held& held) {
    const bool made = held.state == State::kReady || held.state == State::kSent;
    return made && now - held.told >= after;
  });
}

std::size_t HeldSplits::unsent() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all_, [](const auto& entry) { return entry.second.state != State::kSent; }));
}

void HeldSplits::begin(std::uint64_t split, bool again) {
  all_.try_emplace(split).first->second.again = again;
  executor_.begin(split);
}

HeldSplits::Held* HeldSplits::made(WorkDone&& done) {
  Held* held = find(done.split);
  if (held == nullptr || held->state != State::kMaking) return nullptr;
  held->state = State::kReady;
  held->handed_on = done.handed_on;
  held->frames = std::move(done.frames);
  return held;
}

void HeldSplits::forget(std::uint64_t split) {
  const auto held = all_.find(split);
  if (held == all_.end()) return;
  if (held->second.state == State::kMaking) executor_.forget(split);
  all_.erase(held);
}

void HeldSplits::forget(const std::vector<std::uint64_t>& splits) {
  for (const std::uint64_t split : splits) forget(split);
}

}  // namespace forebay::scheduler
