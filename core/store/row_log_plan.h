#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/store/read_queue.h"
#include "core/store/row_locations.h"
#include "core/store/row_page.h"

namespace forebay {

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

}  // namespace forebay
