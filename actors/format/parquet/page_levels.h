#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "actors/format/parquet/encoding/bit_unpack.h"
#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/page_reader.h"
#include "actors/format/parquet/scratch.h"
#include "core/data/buffer_pool.h"

namespace forebay::parquet {

/// The levels of a page: which of its values are null, and where its rows begin.
///
/// Owns their memory and reuses it. Belongs to one thread.
class PageLevels {
 public:
  PageLevels(BufferPool& pool, UnpackBits unpack)
      : repetition_(pool), definition_(pool), unpack_(unpack) {}

  /// Reads the levels of a page; returns "" or what is wrong with them.
  std::string read(const Leaf& leaf, const Page& page);

  std::size_t count() const { return count_; }      ///< Levels.
  std::size_t present() const { return present_; }  ///< Values that are not null.
  bool all_present() const { return present_ == count_; }
  /// Whether value i is not null.
  bool is_present(std::size_t i) const { return all_present() || definitions()[i] == most_; }
  /// Returns how many of the first `count` values are not null.
  std::size_t present_before(std::size_t count) const { return present_between(0, count); }
  /// The same of those from value `first` up to `end`.
  std::size_t present_between(std::size_t first, std::size_t end) const {
    if (all_present()) return end - first;
    return static_cast<std::size_t>(std::count(definitions() + first, definitions() + end, most_));
  }

  /// One byte a level; not there if all_present().
  const std::uint8_t* definitions() const { return definition_.data(); }
  /// One byte a level of a list: 0 where a row begins.
  const std::uint8_t* repetitions() const { return repetition_.data(); }
  /// Returns how many rows of lists begin from level `first` on.
  std::size_t rows_from(std::size_t first) const {
    return static_cast<std::size_t>(std::count(repetitions() + first, repetitions() + count_, 0));
  }
  std::uint8_t most_definition() const { return most_; }
  std::span<const char> values() const { return values_; }  ///< The bytes behind the levels.

 private:
  /// Reads one kind of levels and moves values_ behind them if they lie there; sets `equal` instead
  /// if one run says that all of them are `most`.
  std::string take(const Page& page, bool repetition, std::uint8_t most, Scratch<std::uint8_t>& out,
                   bool& equal);

  Scratch<std::uint8_t> repetition_;
  Scratch<std::uint8_t> definition_;
  const UnpackBits unpack_;
  std::size_t count_ = 0;
  std::size_t present_ = 0;
  std::uint8_t most_ = 0;
  std::span<const char> values_;
};

}  // namespace forebay::parquet
