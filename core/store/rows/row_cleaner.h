#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "core/base/result.h"
#include "core/store/rows/row_appender.h"

namespace forebay {

/// Frees the disk space of older copies, on a thread of its own: appends the current rows of the
/// segment with the fewest again, after which its file is removed.
class RowCleaner {
 public:
  /// `rows` outlives it.
  explicit RowCleaner(RowAppender& rows);
  ~RowCleaner();
  RowCleaner(const RowCleaner&) = delete;
  RowCleaner& operator=(const RowCleaner&) = delete;

 private:
  void run();
  bool clean_one(const DirectMemory& buffer);
  Status move_rows(std::uint64_t slot, const SegmentIndex::Segment& segment,
                   const DirectMemory& buffer);
  Status move_page(const SegmentIndex::Segment& segment, SegmentIndex::Page here,
                   const RowPage& rows);

  RowAppender& rows_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace forebay
