#include "trainer/state/copy_before_change.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::size_t kClaimedBytes = std::size_t{64} << 10;  // claimed by the reader at a time

int shift_for(std::size_t row_bytes, std::size_t slot_bytes) {
  int shift = 0;
  while ((row_bytes << (shift + 1)) <= slot_bytes) ++shift;
  return shift;
}

std::size_t groups_of(std::size_t memory, std::size_t group_bytes) {
  return (memory + group_bytes - 1) / group_bytes;
}

}  // namespace

CopyRoom::CopyRoom(std::size_t slot_bytes, std::size_t bytes)
    : slot_bytes_(slot_bytes),
      slots_(static_cast<std::uint32_t>(std::max<std::size_t>(bytes / slot_bytes, 1))),
      memory_(std::make_unique_for_overwrite<std::byte[]>(slots_ * slot_bytes)) {}

std::uint32_t CopyRoom::take() {
  if (!free_.empty()) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  return touched_ == slots_ ? kNone : touched_++;
}

void CopyRoom::wait(std::unique_lock<std::mutex>& lock) {
  ++waiting_;
  changed_.wait(lock);
  --waiting_;
}

CopyBeforeChange::CopyBeforeChange(std::span<const std::byte> memory, std::size_t row_bytes,
                                   CopyRoom& room)
    : memory_(memory),
      room_(room),
      shift_(shift_for(row_bytes, room.slot_bytes())),
      group_bytes_(row_bytes << shift_),
      groups_(groups_of(memory.size(), group_bytes_)),
      slots_(std::make_unique_for_overwrite<std::uint32_t[]>(groups_.size())) {
  FOREBAY_CHECK(row_bytes > 0 && row_bytes <= room.slot_bytes());
}

CopyBeforeChange::~CopyBeforeChange() { FOREBAY_CHECK(!alive()); }

std::size_t CopyBeforeChange::own_bytes(std::size_t memory, std::size_t row_bytes,
                                        std::size_t slot_bytes) {
  const std::size_t group = row_bytes << shift_for(row_bytes, std::max(row_bytes, slot_bytes));
  return groups_of(memory, group) * (sizeof(State) + sizeof(std::uint32_t));
}

void CopyBeforeChange::begin() {
  FOREBAY_CHECK(!alive());
  for (auto& group : groups_) group.store(State::kOld, std::memory_order_relaxed);
  alive_.store(true, std::memory_order_release);
}

/// Claims for this thread those of `groups`, from index `at` on, that are not copied or read yet;
/// returns their number and advances `at` past them. Stops before a group that it has to wait for.
std::size_t CopyBeforeChange::take_over(std::span<const std::size_t> groups, std::size_t& at,
                                        std::span<std::size_t> own) {
  std::size_t count = 0;
  for (; at < groups.size(); ++at) {
    const std::size_t group = groups[at];
    const State state = groups_[group].load(std::memory_order_relaxed);
    if (!alive() || state >= State::kCopied) continue;
    const std::uint32_t slot = state == State::kOld ? room_.take() : CopyRoom::kNone;
    if (slot == CopyRoom::kNone) break;
    slots_[group] = slot;
    groups_[group].store(State::kCopying, std::memory_order_relaxed);
    own[count++] = group;
  }
  return count;
}

// Takes many groups at a time, because taking the lock costs as much as copying a row.
void CopyBeforeChange::copy_aside(std::span<const std::size_t> groups) {
  std::array<std::size_t, kAtOnce> own;
  std::unique_lock lock(room_.mutex_);
  for (std::size_t at = 0; at < groups.size();) {
    const std::size_t count = take_over(groups, at, own);
    if (count == 0) {
      if (at < groups.size()) room_.wait(lock);
      continue;
    }
    copying_ += count;
    lock.unlock();
    for (const std::size_t group : std::span(own).first(count)) {
      const std::size_t first = group * group_bytes_;
      const auto old = memory_.subspan(first, std::min(group_bytes_, memory_.size() - first));
      std::memcpy(room_.at(slots_[group]), old.data(), old.size());
    }
    lock.lock();
    copying_ -= count;
    for (const std::size_t group : std::span(own).first(count)) {
      groups_[group].store(State::kCopied, std::memory_order_release);
    }
    room_.tell();
  }
}

/// Claims groups [first, last] for reading; waits for copies in progress.
void CopyBeforeChange::claim(std::size_t first, std::size_t last) {
  std::unique_lock lock(room_.mutex_);
  for (std::size_t group = first; group <= last; ++group) {
    auto& state = groups_[group];
    while (state.load(std::memory_order_relaxed) == State::kCopying) room_.wait(lock);
    if (state.load(std::memory_order_relaxed) == State::kOld) {
      state.store(State::kReading, std::memory_order_relaxed);
    }
  }
}

/// Releases groups [first, last]; groups before `done` were read to their end.
void CopyBeforeChange::let_go(std::size_t first, std::size_t last, std::size_t done) {
  const std::lock_guard lock(room_.mutex_);
  for (std::size_t group = first; group <= last; ++group) {
    auto& state = groups_[group];
    if (group >= done) {
      if (state.load(std::memory_order_relaxed) == State::kReading) {
        state.store(State::kOld, std::memory_order_relaxed);
      }
      continue;
    }
    if (state.load(std::memory_order_relaxed) == State::kCopied) room_.give(slots_[group]);
    state.store(State::kDone, std::memory_order_release);
  }
  room_.tell();
}

/// The run of groups from `first` on whose old bytes are contiguous.
CopyBeforeChange::Run CopyBeforeChange::run_from(std::size_t first, std::size_t last) {
  const auto is_copied = [this](std::size_t group) {
    return groups_[group].load(std::memory_order_relaxed) == State::kCopied;
  };
  if (is_copied(first)) return {room_.at(slots_[first]), 1};
  std::size_t end = first + 1;
  while (end <= last && !is_copied(end)) ++end;
  return {memory_.data() + first * group_bytes_, end - first};
}

void CopyBeforeChange::read(std::uint64_t offset, std::span<std::byte> to) {
  FOREBAY_CHECK(alive() && offset + to.size() <= memory_.size());
  const std::size_t end = offset + to.size();
  const std::size_t at_once = std::max<std::size_t>(kClaimedBytes / group_bytes_, 1);
  std::size_t at = offset;
  while (at < end) {
    const std::size_t first = at / group_bytes_;
    const std::size_t last = std::min((end - 1) / group_bytes_, first + at_once - 1);
    claim(first, last);
    for (std::size_t group = first; group <= last;) {
      const Run run = run_from(group, last);
      const std::size_t begin = group * group_bytes_;
      const std::size_t until = std::min(begin + run.groups * group_bytes_, end);
      std::memcpy(to.data() + (at - offset), run.old + (at - begin), until - at);
      at = until;
      group += run.groups;
    }
    const bool to_the_end = at == memory_.size() || at % group_bytes_ == 0;
    let_go(first, last, to_the_end ? last + 1 : last);
  }
}

void CopyBeforeChange::end() {
  std::unique_lock lock(room_.mutex_);
  while (copying_ > 0) room_.wait(lock);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    auto& state = groups_[group];
    if (state.load(std::memory_order_relaxed) != State::kCopied) continue;
    room_.give(slots_[group]);
    state.store(State::kDone, std::memory_order_relaxed);
  }
  alive_.store(false, std::memory_order_release);
  room_.tell();
}

}  // namespace forebay
