#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zstd.h>

#include "actors/format/parquet/page_reader.h"
#include "actors/format/parquet/thrift_structs.h"
#include "actors/output/dictionary.h"
#include "actors/output/level_bits.h"

namespace forebay::parquet {

/// A column of a file that is written.
struct OutputColumn {
  /// Text is known to FooterWriter alone; ChunkEncoder has no chunks of it.
  enum class Type : std::uint8_t { kInt32, kUint32, kInt64, kFloat, kDouble, kText };
  enum class Repeat : std::uint8_t {
    kRequired,  ///< One value in every row.
    kOptional,  ///< A value or null.
    kList,      ///< A list of values, never null: the standard three levels.
  };

  std::string name;
  Type type = Type::kInt64;
  Repeat repeat = Repeat::kRequired;
};

/// The levels of a chunk's rows.
struct ChunkLevels {
  LevelBits repetition;  ///< Empty unless the column is a list.
  LevelBits definition;  ///< Empty where no value is missing.
};

/// The bytes of a row group and what the footer says of them. Offsets count from the group's first
/// byte.
struct EncodedGroup {
  struct Chunk {
    ColumnMetaData meta;
    PageLocation page;
  };
  std::string bytes;
  std::vector<Chunk> chunks;
  std::uint64_t rows = 0;
};

/// Encodes column chunks with checksums: a dictionary page where that saves a quarter (of 64 bits
/// a half), and one data page of version 2. Without a dictionary, integers of 64 bits are stored as
/// differences where that saves a quarter, and other values compressed by zstd where that saves a
/// half.
///
/// Owns scratch memory and reuses it. Belongs to one thread. The bytes depend on the values alone.
class ChunkEncoder {
 public:
  ChunkEncoder() : zstd_(ZSTD_createCCtx()) {}

  /// Appends the chunk of `column` to `group`. `values` are the bits of those that are not null.
  void add(const OutputColumn& column, const ChunkLevels& levels,
           std::span<const std::uint32_t> values, EncodedGroup& group) {
    add_chunk(column, levels, values, words_, group);
  }
  void add(const OutputColumn& column, const ChunkLevels& levels,
           std::span<const std::uint64_t> values, EncodedGroup& group) {
    add_chunk(column, levels, values, long_words_, group);
  }

 private:
  struct FreeZstd {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  template <class Word>
  void add_chunk(const OutputColumn& column, const ChunkLevels& levels,
                 std::span<const Word> values, Dictionary<Word>& dictionary, EncodedGroup& group);
  template <class Word>
  bool pack_deltas(const OutputColumn& column, std::span<const Word> values);
  /// The values of a page, and the same or fewer bytes that stand for them in the file.
  struct PageValues {
    std::string_view plain;
    std::string_view stored;
    std::size_t count = 0;

    bool is_compressed() const { return stored.data() != plain.data(); }
  };

  void add_dictionary_page(const PageValues& values, EncodedGroup& group);
  void add_data_page(const OutputColumn& column, const ChunkLevels& levels,
                     const PageValues& values, Encoding encoding, EncodedGroup& group);
  void append_page(PageHeader header, std::string_view levels, std::string_view values,
                   EncodedGroup& group);
  /// Returns `values` compressed, in packed_.
  std::string_view compressed(std::string_view values);
  /// The same; or `values` themselves if compression does not save a half.
  std::string_view smaller(std::string_view values);

  std::unique_ptr<ZSTD_CCtx, FreeZstd> zstd_;
  Dictionary<std::uint32_t> words_;
  Dictionary<std::uint64_t> long_words_;
  std::string packed_, level_bytes_, value_bytes_;
};

}  // namespace forebay::parquet
