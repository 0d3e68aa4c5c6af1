#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/store/row_log_plan.h"
#include "core/store/row_segment.h"

namespace forebay {

/// A segment of a RowLog and its file.
struct OpenSegment {
  std::string path;
  Descriptor file;
  std::uint64_t sequence = 0;
  std::uint64_t pages = 0;                 ///< Pages begun.
  std::uint64_t live = 0;                  ///< Rows whose latest copy is in this segment.
  std::atomic<std::uint64_t> written = 0;  ///< Pages written to the file.
  std::atomic<bool> whole = false;         ///< Complete with its footer: no more writes follow.
};

/// Maps rows to pages of segments, and counts each segment's live rows. Plain state: belongs to one
/// thread at a time.
class SegmentIndex {
 public:
  using Segment = std::shared_ptr<OpenSegment>;
  struct Page {
    std::uint64_t slot = 0;
    std::uint64_t page = 0;
    bool operator==(const Page&) const = default;
  };

  explicit SegmentIndex(const RowLogPlan& plan)
      : plan_(plan), locations_(plan.most_rows, plan.most_location()) {}

  const RowLogPlan& plan() const { return plan_; }

  /// The location of a row, a number that ascends with segment slot and page; 0: the row was never
  /// written.
  std::uint64_t location_of(std::uint64_t number) const { return locations_.get(number); }
  std::uint64_t location_of(Page page) const {
    return page.slot * plan_.segment_pages + page.page + 1;
  }
  Page page_at(std::uint64_t place) const {
    return {(place - 1) / plan_.segment_pages, (place - 1) % plan_.segment_pages};
  }
  void prefetch(std::uint64_t number) const { locations_.prefetch(number); }

  /// Records that the latest copy of a row is now in page `to`.
  void move(std::uint64_t number, Page to);

  /// Returns the segment's slot. A slot must be free.
  std::uint64_t add(Segment segment);
  void remove(std::uint64_t slot);
  /// Null if the slot is free.
  const Segment& segment(std::uint64_t slot) const { return segments_[slot]; }
  std::span<const Segment> segments() const { return segments_; }
  std::uint64_t num_segments() const { return num_segments_; }

  /// The pages of all segments, and the pages that the live rows would fill.
  std::uint64_t pages() const;
  std::uint64_t live_pages() const { return live_ / plan_.shape.rows + 1; }

  /// Opens the segments linked into a folder, also those without live rows. kCorrupt for a file
  /// that is not a complete segment of rows of this size.
  Status open(const std::string& folder);

 private:
  Status open_segment(const std::string& path);

  const RowLogPlan plan_;
  RowLocations locations_;
  std::array<Segment, RowLogPlan::kMostSegments> segments_;
  std::uint64_t num_segments_ = 0;
  std::uint64_t live_ = 0;  ///< Live rows.
};

/// "00000000000000000042.rows": the order of names is the order of sequences.
std::string segment_name(std::uint64_t sequence);

/// The segments in a folder, ascending. Refuses a folder with any other file.
Result<std::vector<std::string>> segments_in(const std::string& folder);

}  // namespace forebay
