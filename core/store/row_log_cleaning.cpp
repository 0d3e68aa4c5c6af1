#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/store/row_log.h"

namespace forebay {
namespace {

// Limits in segments: above the first, cleaning begins; above the second, writes wait for it.
constexpr std::uint64_t kMany = RowLogPlan::kMostSegments - 32;
constexpr std::uint64_t kTooMany = RowLogPlan::kMostSegments - 8;
// Limits in segments beyond those that the live rows need.
constexpr std::uint64_t kSpare = 3;
constexpr std::uint64_t kMostSpare = 6;

}  // namespace

/// Cleans late: the later a segment is cleaned, the fewer live rows it has. The disk holds at most
/// twice the rows.
bool RowLog::wants_cleaning() const {
  const std::uint64_t live = index_.live_pages();
  return index_.num_segments() > kMany ||
         index_.pages() > live + live * 7 / 10 + kSpare * plan_.segment_pages;
}

bool RowLog::too_full() const {
  return index_.num_segments() > kTooMany ||
         index_.pages() > 2 * index_.live_pages() + kMostSpare * plan_.segment_pages;
}

/// The segment that is cheapest to clean: the one with the smallest share of live rows; or, if
/// there are too many segments, the one with the fewest live rows.
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

/// Returns false if there is nothing to clean, or cleaning is not possible.
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

/// Takes the segment by reference count: once its last live row is appended again, its slot may be
/// reused.
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
  // Checked again after each time the lock was released: the slot may belong to another segment by
  // then.
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
