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
  std::uint64_t pages = 0;                 ///< Begun.
  std::uint64_t live = 0;                  ///< Rows whose latest copy is here.
  std::atomic<std::uint64_t> written = 0;  ///< Pages that the file has.
  std::atomic<bool> whole = false;         ///< With its footer: nothing will be written any more.
};

/// Which rows lie in which page of which segment, and how many of a segment's rows count. Plain
/// state: belongs to one thread at a time.
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

  /// A number of the row's place that ascends with segment slot and page; 0: it was never written.
  std::uint64_t location_of(std::uint64_t number) const { return locations_.get(number); }
  std::uint64_t location_of(Page page) const {
    return page.slot * plan_.segment_pages + page.page + 1;
  }
  Page page_at(std::uint64_t place) const {
    return {(place - 1) / plan_.segment_pages, (place - 1) % plan_.segment_pages};
  }
  void prefetch(std::uint64_t number) const { locations_.prefetch(number); }

  /// The row's latest copy is in that page from now on.
  void move(std::uint64_t number, Page to);

  /// There is a slot.
  std::uint64_t add(Segment segment);
  void remove(std::uint64_t slot);
  /// Null: a free slot.
  const Segment& segment(std::uint64_t slot) const { return segments_[slot]; }
  std::span<const Segment> segments() const { return segments_; }
  std::uint64_t num_segments() const { return num_segments_; }

  /// All pages of all segments, and as many as the rows that count would fill.
  std::uint64_t pages() const;
  std::uint64_t live_pages() const { return live_ / plan_.shape.rows + 1; }

  /// Takes over a folder's segments as they were linked there, and opens them; those without a row
  /// that counts too. kCorrupt for a file that is no whole segment of such rows.
  Status open(const std::string& folder);

 private:
  Status open_segment(const std::string& path);

  const RowLogPlan plan_;
  RowLocations locations_;
  std::array<Segment, RowLogPlan::kMostSegments> segments_;
  std::uint64_t num_segments_ = 0;
  std::uint64_t live_ = 0;  ///< Rows.
};

/// "00000000000000000042.rows": names ascend as sequences do.
std::string segment_name(std::uint64_t sequence);

/// The segments in a folder, ascending. Refuses what else lies there.
Result<std::vector<std::string>> segments_in(const std::string& folder);

}  // namespace forebay
