#include "core/store/rows/row_cleaner.h"

#include <cstring>
#include <optional>
#include <utility>

#include "core/base/thread/start_thread.h"

namespace forebay {

RowCleaner::RowCleaner(RowAppender& rows)
    : rows_(rows), thread_(start_thread("cleaning rows on the disk", [this] { run(); })) {}

RowCleaner::~RowCleaner() {
  stop_ = true;
  rows_.tell_cleaner();
  thread_.join();
}

void RowCleaner::run() {
  const DirectMemory buffer(rows_.index().plan().chunk_bytes());
  while (!stop_) {
    const std::uint32_t seen = rows_.events();
    while (!stop_ && clean_one(buffer)) {
    }
    if (!stop_) rows_.await_event(seen);
  }
}

/// Returns false if there is nothing to clean, or cleaning is not possible.
bool RowCleaner::clean_one(const DirectMemory& buffer) {
  std::optional<std::uint64_t> slot;
  SegmentIndex::Segment segment;
  {
    const RowAppender::Lock lock = rows_.lock();
    if (!rows_.check() || !rows_.index().wants_cleaning()) return false;
    slot = rows_.index().cheapest_to_clean();
    if (!slot) return false;
    segment = rows_.index().segment(*slot);
  }
  auto moved = move_rows(*slot, segment, buffer);
  const RowAppender::Lock lock = rows_.lock();
  if (!moved) rows_.break_off(std::move(moved));
  return rows_.check().has_value();
}

/// Takes the segment by reference count: once its last live row is appended again, its slot may be
/// reused.
Status RowCleaner::move_rows(std::uint64_t slot, const SegmentIndex::Segment& segment,
                             const DirectMemory& buffer) {
  auto moved = for_each_page(rows_.index().plan().shape, *segment, buffer,
                             [&](std::uint64_t page, const RowPage& rows) {
                               return move_page(segment, {slot, page}, rows);
                             });
  if (!moved) return moved;
  const RowAppender::Lock lock = rows_.lock();
  if (stop_ || rows_.index().segment(slot) != segment) return {};
  return fail(Code::kCorrupt,
              segment->path + " has lost " + std::to_string(segment->live) + " of its rows");
}

Status RowCleaner::move_page(const SegmentIndex::Segment& segment, SegmentIndex::Page here,
                             const RowPage& rows) {
  RowAppender::Lock lock = rows_.lock();
  const SegmentIndex& index = rows_.index();
  // Checked again after each time the lock was released: the slot may belong to another segment by
  // then.
  const auto counts = [&](std::uint64_t number) {
    return index.segment(here.slot) == segment && number < index.plan().most_rows &&
           index.location_of(number) == index.location_of(here);
  };
  for (std::size_t row = 0; row < rows.rows() && !stop_; ++row) {
    const std::uint64_t number = rows.number(row);
    if (!counts(number)) continue;
    auto room = rows_.make_room(lock, RowAppender::Use::kCleaner);
    if (!room) return room;
    if (!counts(number)) continue;
    rows_.append(number, [&](std::span<std::byte> to) {
      std::memcpy(to.data(), rows.row(row).data(), to.size());
    });
  }
  return {};
}

}  // namespace forebay
