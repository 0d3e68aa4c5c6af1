#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/page_codec.h"

namespace forebay::parquet {

/// What decoding one column of a grain has to know beside its pages.
struct GrainLeaf {
  std::uint64_t begin = 0;   ///< Of its bytes among those that follow the head.
  std::uint64_t bytes = 0;   ///< Its dictionary page, if any, and its data pages.
  std::uint64_t values = 0;  ///< Of its column chunk, nulls included.
  std::uint64_t per_second = 1;
  std::uint32_t page_bytes = 0;  ///< The most bytes of a page once decompressed.
  std::uint32_t skipped = 0;     ///< Rows in its pages before the grain's first.
  std::uint32_t behind = 0;      ///< The same behind its last, if is_indexed.
  std::uint32_t value_bytes = 0;
  std::uint32_t list_size = 0;
  std::int32_t scale = 0;
  Codec codec = Codec::kNone;
  Physical physical = Physical::kInt32;
  Meaning meaning = Meaning::kOther;
  std::uint8_t most_definition = 0;
  std::uint8_t most_repetition = 0;
  bool is_indexed = false;  ///< Its pages are some of those that an offset index lists.
  std::uint8_t unused[2] = {};

  /// Takes over how the leaf is stored; its names are not needed.
  void store(const Leaf& leaf);
  Leaf leaf() const;
};

/// The head of a loaded grain (UnitRead::head).
struct GrainHead {
  std::uint64_t group = 0;
  std::uint64_t first_row = 0;  ///< Its number in the group.
  std::uint64_t rows = 0;
  std::vector<GrainLeaf> leaves;  ///< In the order of WantedColumns::leaves.

  static constexpr std::size_t bytes_of(std::size_t leaves) {
    return 3 * sizeof(std::uint64_t) + leaves * sizeof(GrainLeaf);
  }
  std::vector<char> to_bytes() const;
  /// Reads a head of `leaves` columns from a loaded grain. Returns false if the grain is too short
  /// for what the head says.
  static bool parse(std::span<const char> grain, std::size_t leaves, GrainHead& out);
};

}  // namespace forebay::parquet
