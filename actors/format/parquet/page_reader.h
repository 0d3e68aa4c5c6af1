#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "actors/format/parquet/page_codec.h"
#include "actors/format/parquet/scratch.h"
#include "actors/format/parquet/thrift_structs.h"
#include "core/base/result.h"

namespace forebay::parquet {

/// How the values of a page are encoded; the numbers are those of parquet.thrift.
enum class Encoding : std::uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,  ///< Deprecated: PLAIN in a dictionary page, RLE_DICTIONARY elsewhere.
  kRle = 3,
  kBitPacked = 4,  ///< Deprecated, of levels.
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
};

/// A page as it lies in its column chunk, and its values' bytes decompressed.
struct Page {
  bool is_dictionary = false;
  std::size_t num_values = 0;  ///< Levels, nulls included; of a dictionary, its entries.
  std::int32_t encoding = 0;
  /// The encoding of the levels; version 2 has no other than RLE.
  std::int32_t definition_encoding = static_cast<std::int32_t>(Encoding::kRle);
  std::int32_t repetition_encoding = static_cast<std::int32_t>(Encoding::kRle);
  /// Version 2: the levels, which are never compressed. Version 1 has them at the start of
  /// `values`, each with its size before it.
  bool has_levels = false;
  std::span<const char> repetition;
  std::span<const char> definition;
  std::span<const char> values;

  /// Whether the values are indices of a dictionary.
  bool has_indices() const {
    return encoding == static_cast<std::int32_t>(Encoding::kRleDictionary) ||
           encoding == static_cast<std::int32_t>(Encoding::kPlainDictionary);
  }
};

/// Reads the pages of a column chunk, or of some of its pages, one after the other.
///
/// Borrows the bytes, which are untrusted and have the padding of a Buffer behind them, and the
/// memory for decompressed pages. Belongs to one thread.
class PageReader {
 public:
  /// What a page may hold, from the file's metadata.
  struct Limits {
    Codec codec = Codec::kNone;
    std::size_t page_bytes = 0;  ///< The most bytes of a page once decompressed.
    std::size_t values = 0;      ///< The most values of a data page, nulls included.
  };

  PageReader(std::span<const char> bytes, const Limits& limits, Scratch<char>& unpacked)
      : bytes_(bytes), limits_(limits), unpacked_(unpacked) {}

  bool at_end() const { return bytes_.empty(); }

  /// Like count_values(), of the pages that have not been read.
  Result<std::size_t> values_left() const;

  /// Reads the next page; pages that hold no values, such as of an index, are passed over: then
  /// `out.num_values` is 0. The spans are valid until the next call. Returns false, with problem(),
  /// if the page is not sound.
  bool next(Page& out);

  /// Returns what is wrong, such as "a page of 70 bytes where 60 are left".
  const std::string& problem() const { return problem_; }

 private:
  bool refuse(std::string problem);
  bool fits_memory(std::size_t bytes);
  bool set_values(std::int32_t values, Page& out);
  bool check_sum(const PageHeader& header, std::span<const char> body);
  bool unpack(std::span<const char> packed, std::size_t size, bool is_packed,
              std::span<const char>& out);
  bool data_page(const PageHeader& header, std::span<const char> body, Page& out);
  bool data_page_v2(const PageHeader& header, std::span<const char> body, Page& out);
  bool dictionary_page(const PageHeader& header, std::span<const char> body, Page& out);

  std::span<const char> bytes_;
  const Limits limits_;
  Scratch<char>& unpacked_;
  std::string problem_;
};

/// Returns how many values, nulls included, the data pages in `bytes` say that they have, without
/// decompressing them. kCorrupt for damaged headers, without where.
Result<std::size_t> count_values(std::span<const char> bytes, const PageReader::Limits& limits);

}  // namespace forebay::parquet
