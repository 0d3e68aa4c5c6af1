#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "actors/format/parquet/distinct_lists.h"
#include "actors/format/parquet/encoding/bit_unpack.h"
#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/page_levels.h"
#include "actors/format/parquet/page_reader.h"
#include "actors/format/parquet/raw_values.h"
#include "actors/format/parquet/scratch.h"
#include "core/base/cpu_level.h"
#include "core/data/buffer_pool.h"

namespace forebay::parquet {

/// Some rows of those that a range of pages holds.
struct RowRange {
  std::size_t skipped = 0;  ///< Rows before them.
  std::size_t rows = 0;
  /// Rows behind them, if an offset index tells: it has to be right, or `skipped` would not be.
  std::optional<std::size_t> behind = std::nullopt;
};

/// Where the ids of a sparse column go.
struct IdSink {
  std::int64_t* values = nullptr;
  std::size_t room = 0;  ///< Ids that fit.
  /// Entry i + 1 becomes the number of ids up to the end of row i. Entry 0 is 0. While no row has
  /// had another number of ids than one (`jagged`), nothing is written.
  std::int32_t* offsets = nullptr;
  std::size_t count = 0;  ///< Ids written.
  std::size_t rows = 0;   ///< Rows written.
  bool jagged = false;
};

/// Decodes columns from the pages of their column chunks.
///
/// Owns scratch memory of the pool and reuses it. Belongs to one thread. The pages are untrusted
/// and have the padding of a Buffer behind them; every function returns "" or what is wrong.
class ColumnDecoder {
 public:
  ColumnDecoder(CpuLevel level, BufferPool& pool);

  /// Writes one value for each row of `range`, `missing` for null. Value is float or double and
  /// `leaf` can be dense, or Value is std::int64_t and `leaf` can be sparse; it is no list.
  template <class Value>
  std::string flat(const Leaf& leaf, std::span<const char> pages, const PageReader::Limits& limits,
                   const RowRange& range, Value missing, Value* out);

  /// Writes the items of each row of `range`, row by row, Leaf::list_size of them; missing_value()
  /// for a null, all of them for a null list. `leaf` is a list of fixed size and can be dense.
  std::string fixed_lists(const Leaf& leaf, std::span<const char> pages,
                          const PageReader::Limits& limits, const RowRange& range, float* out);

  /// Appends the ids of each row of `range`: none for null. `leaf` can be sparse.
  std::string sparse(const Leaf& leaf, std::span<const char> pages,
                     const PageReader::Limits& limits, const RowRange& range, IdSink& out);

  /// Adds the list of each row of `range` to `out`, an empty one for null. `leaf` is a list and can
  /// be sparse.
  std::string distinct(const Leaf& leaf, std::span<const char> pages,
                       const PageReader::Limits& limits, const RowRange& range, DistinctLists& out);

 private:
  /// Values of a dictionary, converted once, and room for values that are not wanted as they come.
  template <class Value>
  struct Values {
    explicit Values(BufferPool& pool) : dictionary(pool), some(pool) {}
    Scratch<Value> dictionary;
    std::size_t known = 0;  ///< Entries of the dictionary.
    Scratch<Value> some;
  };

  template <class Value>
  Values<Value>& values() {
    return std::get<Values<Value>>(values_);
  }
  template <class Value>
  std::string next_page(const Leaf& leaf, PageReader& reader, Page& page);
  template <class Value>
  std::string read_dictionary(const Leaf& leaf, const Page& page);
  template <class Value>
  std::string look_up(std::span<const char> indices, std::size_t count, Value* out);
  /// Writes the values of the page read last that are not null.
  template <class Value>
  std::string read_page_values(const Leaf& leaf, const Page& page, Value* out);
  template <class Value>
  std::string flat_page(const Leaf& leaf, const Page& page, const RowRange& wanted, Value missing,
                        Value* out);
  std::string append_ids(const Leaf& leaf, const Page& page, std::size_t first, std::size_t ids,
                         IdSink& out);
  /// Checks that `behind` rows of the page read last, and no more pages, follow a range.
  static std::string check_end(const RowRange& range, std::size_t behind, const PageReader& reader);
  std::string next_page_of_list(const Leaf& leaf, PageReader& reader, Page& page, bool& goes_on);
  std::string flat_ids(const Leaf& leaf, PageReader& reader, const RowRange& range, IdSink& out);
  /// Calls `take(page, begin, most_rows, part)` for the pages of a range of lists: it takes at most
  /// `most_rows` rows from the page's level `begin` on and says in `part` what it took.
  template <class Take>
  std::string each_list_page(const Leaf& leaf, PageReader& reader, const RowRange& range,
                             const Take& take);
  std::string list_ids(const Leaf& leaf, PageReader& reader, const RowRange& range, IdSink& out);
  std::string read_indices(std::span<const char> indices, std::size_t count, std::uint32_t* out);
  /// Looks up ids in the dictionary.
  std::string ids_at(std::span<const std::uint32_t> indices, std::int64_t* out) const;
  std::string add_lists(const Leaf& leaf, const Page& page, std::size_t first,
                        std::span<const std::int32_t> ends, DistinctLists& out);

  const UnpackBits unpack_;
  Scratch<char> unpacked_;
  RawValues raw_;
  PageLevels levels_;
  Scratch<std::uint32_t> indices_;  // of a page
  Scratch<std::int32_t> ends_;      // of the lists of a page
  std::tuple<Values<float>, Values<double>, Values<std::int64_t>> values_;
};

}  // namespace forebay::parquet
