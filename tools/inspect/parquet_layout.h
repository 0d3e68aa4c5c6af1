#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/parquet/footer.h"
#include "engine/report/json_object.h"

namespace forebay {

/// How the rows and pages of Parquet files lie, as far as training cares. Bytes are as stored
/// unless a comment says otherwise.
struct ParquetLayout {
  std::uint64_t files = 0;
  std::uint64_t rows = 0;
  std::uint64_t groups = 0;
  std::uint64_t least_rows = 0;  ///< Of a row group.
  std::uint64_t usual_rows = 0;  ///< The median.
  std::uint64_t most_rows = 0;
  std::uint64_t columns = 0;         ///< Leaves of the first file.
  std::uint64_t wanted_columns = 0;  ///< Those that are read.
  std::uint64_t bytes = 0;           ///< Of all pages.
  std::uint64_t wanted_bytes = 0;    ///< Of the pages of wanted columns.
  std::uint64_t group_bytes = 0;     ///< Of the wanted columns of the largest row group, unpacked.
  std::uint64_t chunks = 0;          ///< Wanted column chunks.
  std::uint64_t indexed_chunks = 0;  ///< Those with an offset index.
  bool slow_codec = false;           ///< Whether a wanted chunk is packed with gzip or brotli.
  std::vector<std::string> unread;   ///< Columns that cannot be read, as `name (type)`.
};

/// Adds up the layout of files.
class ParquetLayouts {
 public:
  /// Adds a file of which the columns with these numbers in Footer::leaves are wanted.
  void add(const parquet::Footer& footer, const std::vector<std::size_t>& wanted);
  ParquetLayout sum() const;

 private:
  ParquetLayout sum_;
  std::vector<std::uint64_t> group_rows_;
};

/// What makes a layout unfit for training, and what to do about it.
struct LayoutProblem {
  std::string what;    ///< Such as `row groups have 1,000,000 rows and no page index`.
  std::string advice;  ///< Such as `forebay convert JOB --out DIR writes …`.
};

/// Returns the problems of a layout, the worst first; none: it suits training.
std::vector<LayoutProblem> problems_of(const ParquetLayout& layout);

/// Returns `12 row groups of 8,192 rows, with a page index`.
std::string describe_groups(const ParquetLayout& layout);

/// Returns the figures of a layout and its problems for a script.
JsonObject to_json(const ParquetLayout& layout);

/// Returns the names of the encodings of a Chunk, such as `RLE_DICTIONARY`.
std::vector<std::string> encoding_names(std::uint32_t encodings);

/// Returns why a column of a file cannot be read: its type, or how its pages are stored; "" if it
/// can be.
std::string why_unread(const parquet::Footer& footer, std::size_t leaf);

/// Returns the numbers of the leaves that a job reads of a file, given the names of its columns. A
/// column `name.3` is the item of a list `name` if the file has no leaf of that name.
std::vector<std::size_t> leaves_named(const parquet::Footer& footer,
                                      const std::vector<std::string>& columns);

}  // namespace forebay
