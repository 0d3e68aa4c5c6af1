#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/rows/read_queue.h"
#include "core/store/rows/row_segment.h"

namespace forebay {

/// The locations of many rows: for each row a number up to `most`, initially 0, in as few bytes as
/// `most` requires. Belongs to one thread at a time.
class RowLocations {
 public:
  RowLocations(std::uint64_t rows, std::uint64_t most)
      : rows_(rows), width_(width_of(most)), bytes_(rows * width_ + sizeof(std::uint64_t)) {}

  static std::uint64_t bytes(std::uint64_t rows, std::uint64_t most) {
    return rows * width_of(most) + sizeof(std::uint64_t);
  }

  std::uint64_t rows() const { return rows_; }

  std::uint64_t get(std::uint64_t row) const { return word(row) & mask(); }

  void set(std::uint64_t row, std::uint64_t place) {
    const std::uint64_t now = (word(row) & ~mask()) | place;
    std::memcpy(bytes_.data() + row * width_, &now, sizeof now);
  }

  void prefetch(std::uint64_t row) const { __builtin_prefetch(bytes_.data() + row * width_); }

 private:
  static_assert(std::endian::native == std::endian::little);

  static std::size_t width_of(std::uint64_t most) {
    return (static_cast<std::size_t>(std::bit_width(most)) + 7) / 8;
  }
  /// The number of the row, and the bytes that follow it.
  std::uint64_t word(std::uint64_t row) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + row * width_, sizeof word);
    return word;
  }
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - 8 * width_); }

  std::uint64_t rows_;
  std::size_t width_;
  std::vector<std::byte> bytes_;
};

/// The sizes of a RowLog's parts; they depend only on its rows.
struct RowLogPlan {
  static constexpr std::uint64_t kMostSegments = 256;  ///< Each is an open file.
  static constexpr std::size_t kChunks = 8;  ///< Chunks being filled, or waiting to be written.

  RowLogPlan(std::size_t row_bytes, std::uint64_t rows)
      : shape(row_bytes),
        most_rows(rows),
        segment_pages(std::max<std::uint64_t>(all_pages() / 96, 16)),
        chunk_pages(std::clamp<std::uint64_t>(all_pages() / 512, 4, 64)) {}

  std::uint64_t all_pages() const { return most_rows / shape.rows + 1; }
  std::size_t chunk_bytes() const { return chunk_pages * shape.page_bytes; }
  std::uint64_t most_location() const { return kMostSegments * segment_pages; }

  /// All memory that the log holds.
  std::uint64_t memory_bytes() const {
    constexpr std::uint64_t kFooters = 3;  // Those being filled; those being written count twice.
    const std::uint64_t footer = segment_pages * shape.rows * sizeof(std::uint64_t);
    return RowLocations::bytes(most_rows, most_location()) + (kChunks + 1) * chunk_bytes() +
           kFooters * footer + ReadQueue::memory_bytes(shape.page_bytes);
  }

  RowPageShape shape;
  std::uint64_t most_rows;
  std::uint64_t segment_pages;
  std::uint64_t chunk_pages;  ///< Pages written at once.
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

  /// The pages of all segments, and the pages that the live rows would fill.
  std::uint64_t pages() const;
  std::uint64_t live_pages() const { return live_ / plan_.shape.rows + 1; }

  /// Whether the disk holds so many older copies that cleaning pays. Cleaning is late: the later a
  /// segment is cleaned, the fewer live rows it has.
  bool wants_cleaning() const;
  /// Whether writes must wait for cleaning: the disk holds twice the rows.
  bool too_full() const;
  /// The complete segment with the smallest share of live rows; or, if there are too many segments,
  /// the one with the fewest live rows.
  std::optional<std::uint64_t> cheapest_to_clean() const;

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
