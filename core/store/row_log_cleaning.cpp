#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/store/row_log.h"

namespace forebay {
namespace {

// Segments: cleaning begins, and writing waits for it.
constexpr std::uint64_t kMany = RowLogPlan::kMostSegments - 32;
constexpr std::uint64_t kTooMany = RowLogPlan::kMostSegments - 8;
// Beside what the rows take: segments.
constexpr std::uint64_t kSpare = 3;
constexpr std::uint64_t kMostSpare = 6;

}  // namespace

/// The less is cleaned, the emptier are the segments by then; the disk holds at most twice the
/// rows.
bool RowLog::wants_cleaning() const {
  const std::uint64_t live = index_.live_pages();
  return index_.num_segments() > kMany ||
         index_.pages() > live + live * 7 / 10 + kSpare * plan_.segment_pages;
}

bool RowLog::too_full() const {
  return index_.num_segments() > kTooMany ||
         index_.pages() > 2 * index_.live_pages() + kMostSpare * plan_.segment_pages;
}

/// Where there is most to gain: the segment whose rows count least by its size; where there are too
/// many segments, the one with the fewest.
std::optional<std::uint64_t> RowLog::victim() const {
  std::optional<std::uint64_t> best;
  double least = 0;
  for (std::uint64_t slot = 0; slot < index_.segments().size(); ++slot) {
    const SegmentIndex::Segment& segment = index_.segment(slot);
    if (segment == nullptr || !segment->whole) continue;
    const auto live = static_cast<double>(segment->live);
    const double cost =
        index_.num_segments() > kMany ? live : live / static_cast<double>(segment->pages);
    if (best && cost >= least) continue;
    best = slot;
    least = cost;
  }
  return best;
}

void RowLog::tell_cleaner() {
  ++events_;
  events_.notify_all();
}

void RowLog::clean() {
  const DirectMemory buffer(plan_.chunk_bytes());
  while (!stop_) {
    const std::uint32_t seen = events_;
    while (!stop_ && clean_one(buffer)) {
    }
    if (!stop_) events_.wait(seen);
  }
}

/// False: there is nothing to clean, or nothing can be.
bool RowLog::clean_one(const DirectMemory& buffer) {
  std::optional<std::uint64_t> slot;
  SegmentIndex::Segment segment;
  {
    const Lock lock(mutex_);
    if (!writer_.status()) error_ = writer_.status();
    if (!error_) space_.notify_all();
    if (!error_ || !wants_cleaning()) return false;
    slot = victim();
    if (!slot) return false;
    segment = index_.segment(*slot);
  }
  auto moved = move_rows(*slot, segment, buffer);
  const Lock lock(mutex_);
  if (!moved) error_ = std::move(moved);
  space_.notify_all();
  return error_.has_value();
}

/// The segment itself is held: as soon as its last row is written anew its slot may be another's.
Status RowLog::move_rows(std::uint64_t slot, const SegmentIndex::Segment& segment,
                         const DirectMemory& buffer) {
  auto moved = for_each_page(plan_, *segment, buffer, [&](std::uint64_t page, const RowPage& rows) {
    Lock lock(mutex_);
    return move_page(lock, segment, {slot, page}, rows);
  });
  if (!moved) return moved;
  const Lock lock(mutex_);
  if (stop_ || index_.segment(slot) != segment) return {};
  return fail(Code::kCorrupt,
              segment->path + " has lost " + std::to_string(segment->live) + " of its rows");
}

Status RowLog::move_page(Lock& lock, const SegmentIndex::Segment& segment, SegmentIndex::Page here,
                         const RowPage& rows) {
  // Asked again whenever the lock was let go of: a slot may be another segment's by then.
  const auto counts = [&](std::uint64_t number) {
    return index_.segment(here.slot) == segment && number < plan_.most_rows &&
           index_.location_of(number) == index_.location_of(here);
  };
  for (std::size_t row = 0; row < rows.rows() && !stop_; ++row) {
    const std::uint64_t number = rows.number(row);
    if (!counts(number)) continue;
    if (auto room = make_room(lock); !room) return room;
    if (!counts(number)) continue;
    append(number, [&](std::span<std::byte> to) {
      std::memcpy(to.data(), rows.row(row).data(), to.size());
    });
    ++moved_rows_;
  }
  return {};
}

}  // namespace forebay
