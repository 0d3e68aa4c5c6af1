#include "tools/bench/parquet/parquet_layout.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <zstd.h>

#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/page_codec.h"
#include "actors/format/parquet/page_reader.h"
#include "actors/output/footer_writer.h"
#include "actors/output/rle_writer.h"
#include "actors/output/thrift_writer.h"
#include "core/base/random.h"

namespace forebay {
namespace {

using parquet::ChunkLevels;
using parquet::EncodedGroup;
using parquet::OutputColumn;
using Type = OutputColumn::Type;
using Repeat = OutputColumn::Repeat;

constexpr std::size_t kTexts = 223;
constexpr unsigned kTextWidth = 8;  // bits of an index

void add_columns(BenchLayout& layout, const std::string& prefix, int count, Type type,
                 Repeat repeat = Repeat::kRequired) {
  for (int i = 0; i < count; ++i)
    layout.columns.push_back({prefix + std::to_string(i), type, repeat});
}

void add_names(std::vector<std::string>& names, const std::string& prefix, int count) {
  for (int i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
}

/// The first columns of each kind that the layout `dlrm` has.
struct DlrmCounts {
  int floats, doubles, bytes, integers, longs;
};

ColumnSpec some_of_dlrm(const DlrmCounts& counts) {
  ColumnSpec wanted{.label = "label"};
  add_names(wanted.dense, "f", counts.floats);
  add_names(wanted.dense, "d", counts.doubles);
  add_names(wanted.sparse, "b", counts.bytes);
  add_names(wanted.sparse, "i", counts.integers);
  add_names(wanted.sparse, "l", counts.longs);
  return wanted;
}

/// The bits of a made-up value of a column.
std::uint64_t made_up_value(const OutputColumn& column, std::size_t row, std::uint64_t random) {
  const double share = static_cast<double>(random >> 11) * 0x1p-53;
  if (column.name == "label") return random % 2;
  if (column.name == "date") return 978'307'260 + row / 14 * 60;
  if (column.name == "delay") return static_cast<std::uint64_t>(500 * share * share * share);
  if (column.name == "distance") return 31 + random % 1074;
  switch (column.type) {
    case Type::kFloat:
      return std::bit_cast<std::uint32_t>(static_cast<float>(share));
    case Type::kDouble:
      return std::bit_cast<std::uint64_t>(share);
    case Type::kInt64:
      return column.repeat == Repeat::kList ? random % 100'000 : random >> 24;
    default:
      return random % (column.name[0] == 'b' ? 100 : 1'000'000);
  }
}

template <class Word>
std::vector<Word> made_up_values(const OutputColumn& column, std::size_t count, Random& random) {
  std::vector<Word> words(count);
  for (std::size_t row = 0; row < count; ++row)
    words[row] = static_cast<Word>(made_up_value(column, row, random.next()));
  return words;
}

/// The levels of lists of 0 to 30 items, as long as the rows; `values` becomes the items' number.
ChunkLevels made_up_lists(std::size_t rows, Random& random, std::size_t& values) {
  constexpr std::uint64_t kMostIds = 30;
  ChunkLevels levels;
  values = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t ids = random.next() % (kMostIds + 1);
    values += ids;
    // An empty list has one level, of its row alone.
    levels.repetition.push_back(0);
    levels.definition.push_back(ids > 0 ? 1 : 0);
    for (std::size_t i = 1; i < ids; ++i) {
      levels.repetition.push_back(1);
      levels.definition.push_back(1);
    }
  }
  return levels;
}

void add_column(const OutputColumn& column, Random& random, parquet::ChunkEncoder& encoder,
                EncodedGroup& group) {
  std::size_t values = group.rows;
  ChunkLevels levels;
  if (column.repeat == Repeat::kList) levels = made_up_lists(group.rows, random, values);
  if (column.type == Type::kInt64 || column.type == Type::kDouble) {
    const auto words = made_up_values<std::uint64_t>(column, values, random);
    encoder.add(column, levels, std::span<const std::uint64_t>(words), group);
  } else {
    const auto words = made_up_values<std::uint32_t>(column, values, random);
    encoder.add(column, levels, std::span<const std::uint32_t>(words), group);
  }
}

/// Appends a page of version 1 to the last chunk of `group`.
void add_page(parquet::PageHeader header, const std::string& values, EncodedGroup& group) {
  std::string packed(ZSTD_compressBound(values.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), values.data(), values.size(), 1));
  header.uncompressed_bytes = static_cast<std::int32_t>(values.size());
  header.compressed_bytes = static_cast<std::int32_t>(packed.size());
  const std::size_t before = group.bytes.size();
  parquet::ThriftWriter(group.bytes).write(header);
  parquet::ColumnMetaData& meta = group.chunks.back().meta;
  meta.uncompressed_bytes += static_cast<std::int64_t>(group.bytes.size() - before + values.size());
  group.bytes += packed;
  meta.compressed_bytes += static_cast<std::int64_t>(group.bytes.size() - before);
}

void append_number(std::size_t number, std::string& out) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<char>(number >> shift));
}

/// The codes of airports, as their public tables have them.
std::string text_dictionary() {
  std::string entries;
  for (std::size_t i = 0; i < kTexts; ++i) {
    const std::string text = std::to_string(10'135 + 27 * i);
    append_number(text.size(), entries);
    entries += text;
  }
  return entries;
}

/// Indices of which low ones are frequent, and the levels of a column without nulls before them.
std::string text_indices(std::size_t rows, Random& random) {
  std::vector<std::uint16_t> indices(rows);
  for (std::uint16_t& index : indices) {
    const double share = static_cast<double>(random.next() >> 11) * 0x1p-53;
    index = static_cast<std::uint16_t>(kTexts * share * share);
  }
  std::string levels;
  parquet::write_level_run(1, rows, levels);
  std::string values;
  append_number(levels.size(), values);
  values += levels;
  values.push_back(static_cast<char>(kTextWidth));
  parquet::write_rle(indices, kTextWidth, values);
  return values;
}

std::int32_t encoding_number(parquet::Encoding encoding) {
  return static_cast<std::int32_t>(encoding);
}

void add_text(const std::string& name, Random& random, EncodedGroup& group) {
  EncodedGroup::Chunk& chunk = group.chunks.emplace_back();
  chunk.meta.type = static_cast<std::int32_t>(parquet::Physical::kByteArray);
  chunk.meta.path = {name};
  chunk.meta.codec = static_cast<std::int32_t>(parquet::Codec::kZstd);
  chunk.meta.num_values = static_cast<std::int64_t>(group.rows);
  chunk.meta.encodings = {encoding_number(parquet::Encoding::kPlain),
                          encoding_number(parquet::Encoding::kRle),
                          encoding_number(parquet::Encoding::kRleDictionary)};
  chunk.meta.dictionary_page_offset = static_cast<std::int64_t>(group.bytes.size());
  parquet::PageHeader dictionary;
  dictionary.type = 2;
  dictionary.dictionary =
      parquet::DictionaryPageHeader{kTexts, encoding_number(parquet::Encoding::kPlain)};
  add_page(dictionary, text_dictionary(), group);
  chunk.meta.data_page_offset = static_cast<std::int64_t>(group.bytes.size());
  parquet::PageHeader data;
  data.type = 0;
  data.data.emplace();
  data.data->num_values = static_cast<std::int32_t>(group.rows);
  data.data->encoding = encoding_number(parquet::Encoding::kRleDictionary);
  data.data->definition_encoding = encoding_number(parquet::Encoding::kRle);
  data.data->repetition_encoding = encoding_number(parquet::Encoding::kRle);
  add_page(data, text_indices(group.rows, random), group);
  chunk.page.offset = chunk.meta.data_page_offset;
  chunk.page.compressed_bytes =
      static_cast<std::int32_t>(static_cast<std::int64_t>(group.bytes.size()) - chunk.page.offset);
}

EncodedGroup made_up_group(const BenchLayout& layout, std::uint64_t seed) {
  Random random(seed);
  parquet::ChunkEncoder encoder;
  EncodedGroup group;
  group.rows = layout.group_rows;
  for (const OutputColumn& column : layout.columns) add_column(column, random, encoder, group);
  for (const std::string& name : layout.texts) add_text(name, random, group);
  return group;
}

std::uint64_t bytes_wanted(const EncodedGroup& group, const ColumnSpec& wanted) {
  std::set<std::string> names(wanted.dense.begin(), wanted.dense.end());
  names.insert(wanted.sparse.begin(), wanted.sparse.end());
  names.insert(wanted.label);
  std::uint64_t bytes = 0;
  for (const EncodedGroup::Chunk& chunk : group.chunks) {
    if (names.contains(chunk.meta.path.front()))
      bytes += static_cast<std::uint64_t>(chunk.meta.compressed_bytes);
  }
  return bytes;
}

/// All columns, those of text last.
std::vector<OutputColumn> stored_columns(const BenchLayout& layout) {
  std::vector<OutputColumn> columns = layout.columns;
  for (const std::string& name : layout.texts)
    columns.push_back({name, Type::kText, Repeat::kOptional});
  return columns;
}

}  // namespace

BenchLayout dlrm_layout() {
  BenchLayout layout{.name = "dlrm", .columns = {}, .group_rows = 6144};
  layout.columns.push_back({"label", Type::kInt32, Repeat::kRequired});
  add_columns(layout, "b", 73, Type::kInt32);  // of 0 to 99: a byte in the dictionary
  add_columns(layout, "f", 41, Type::kFloat);
  add_columns(layout, "i", 40, Type::kInt32);
  add_columns(layout, "d", 20, Type::kDouble);
  add_columns(layout, "l", 25, Type::kInt64);
  layout.wanted = some_of_dlrm({.floats = 8, .doubles = 5, .bytes = 9, .integers = 9, .longs = 8});
  return layout;
}

ColumnSpec tenth_of_dlrm() {
  return some_of_dlrm({.floats = 4, .doubles = 2, .bytes = 7, .integers = 4, .longs = 2});
}

ColumnSpec all_of_dlrm() {
  return some_of_dlrm({.floats = 41, .doubles = 20, .bytes = 73, .integers = 40, .longs = 25});
}

BenchLayout flights_layout() {
  BenchLayout layout{.name = "flights", .columns = {}, .group_rows = std::size_t{1} << 18};
  for (const char* name : {"date", "delay", "distance"})
    layout.columns.push_back({name, Type::kInt64, Repeat::kOptional});
  layout.texts = {"origin", "destination"};
  layout.wanted = {.label = "delay",
                   .dense = {"date", "distance"},
                   .sparse = layout.texts,
                   .label_threshold = 15.0};
  return layout;
}

BenchLayout lists_layout() {
  BenchLayout layout{.name = "lists", .columns = {}, .group_rows = 8192};
  layout.columns.push_back({"label", Type::kInt32, Repeat::kRequired});
  add_columns(layout, "s", 4, Type::kInt64, Repeat::kList);
  layout.wanted = {.label = "label", .dense = {}, .sparse = {"s0", "s1", "s2", "s3"}};
  return layout;
}

Result<WrittenLayout> write_layout(const BenchLayout& layout, std::uint64_t rows) {
  constexpr std::size_t kFiles = 4;
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  WrittenLayout written{.folder = std::move(*folder)};
  const std::size_t each = rows / layout.group_rows / kFiles + 1;
  std::vector<EncodedGroup> groups;
  for (std::size_t i = 0; i < std::min<std::size_t>(each, 8); ++i)
    groups.push_back(made_up_group(layout, i));
  for (std::size_t file = 0; file < kFiles; ++file) {
    const std::string path = written.folder.path() + "/" + std::to_string(file) + ".parquet";
    std::ofstream out(path, std::ios::binary);
    parquet::FooterWriter footer(stored_columns(layout));
    out << parquet::kMagic;
    std::uint64_t offset = parquet::kMagic.size();
    for (std::size_t i = 0; i < each; ++i) {
      const EncodedGroup& group = groups[i % groups.size()];
      out << group.bytes;
      footer.add(group, offset);
      offset += group.bytes.size();
      written.wanted_bytes += bytes_wanted(group, layout.wanted);
    }
    out << footer.finish(offset);
    out.close();
    if (!out)
      return fail(Code::kUnavailable, path + " cannot be written; free some space in TMPDIR");
  }
  return written;
}

}  // namespace forebay
