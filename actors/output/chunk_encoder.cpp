#include "actors/output/chunk_encoder.h"

#include <algorithm>
#include <array>
#include <limits>

#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/page_codec.h"
#include "actors/format/parquet/page_reader.h"
#include "actors/format/parquet/page_sum.h"
#include "actors/output/delta_writer.h"
#include "actors/output/rle_writer.h"
#include "actors/output/thrift_writer.h"
#include "core/base/check.h"

namespace forebay::parquet {
namespace {

constexpr int kLevel = 1;
/// A page is tried by this many of its bytes.
constexpr std::size_t kTried = 2048;
/// Before that it is judged by the frequencies of this many.
constexpr std::size_t kJudged = 1024;
constexpr std::int32_t kDictionaryPage = 2;
constexpr std::int32_t kDataPageV2 = 3;

std::int32_t number_of(Encoding encoding) { return static_cast<std::int32_t>(encoding); }

std::int32_t physical_of(OutputColumn::Type type) {
  switch (type) {
    case OutputColumn::Type::kInt32:
    case OutputColumn::Type::kUint32:
      return static_cast<std::int32_t>(Physical::kInt32);
    case OutputColumn::Type::kInt64:
      return static_cast<std::int32_t>(Physical::kInt64);
    case OutputColumn::Type::kFloat:
      return static_cast<std::int32_t>(Physical::kFloat);
    case OutputColumn::Type::kDouble:
      return static_cast<std::int32_t>(Physical::kDouble);
    case OutputColumn::Type::kText:
      break;
  }
  return 0;
}

template <class Word>
std::string_view bytes_of(std::span<const Word> words) {
  return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

/// Whether compression could save a half of `values`, judged by some of their bytes: by the chance
/// that two of them are equal, which bounds their entropy from below. It is 1/16 for bytes of four
/// bits of entropy. Exact in integers, so that every machine decides alike.
bool may_shrink(std::string_view values) {
  const std::size_t judged = std::min(values.size(), kJudged);
  const std::string_view some = values.substr((values.size() - judged) / 2, judged);
  std::array<std::array<std::uint32_t, 256>, 2> counts{};  // two, as stores to one would wait
  for (std::size_t i = 0; i < some.size(); ++i) {
    ++counts[i % 2][static_cast<std::uint8_t>(some[i])];
  }
  std::uint64_t pairs = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const std::uint64_t count = counts[0][byte] + counts[1][byte];
    pairs += count * count;
  }
  return pairs * 16 > judged * judged;
}

std::int32_t size_of(std::size_t bytes) {
  FOREBAY_CHECK(bytes <= std::numeric_limits<std::int32_t>::max());
  return static_cast<std::int32_t>(bytes);
}

}  // namespace

std::string_view ChunkEncoder::compressed(std::string_view values) {
  packed_.resize(std::max(packed_.size(), ZSTD_compressBound(values.size())));
  const std::size_t size = ZSTD_compressCCtx(zstd_.get(), packed_.data(), packed_.size(),
                                             values.data(), values.size(), kLevel);
  FOREBAY_CHECK(ZSTD_isError(size) == 0);
  return {packed_.data(), size};
}

std::string_view ChunkEncoder::smaller(std::string_view values) {
  const auto saves = [](std::string_view packed, std::string_view plain) {
    return packed.size() <= plain.size() / 2;
  };
  if (!may_shrink(values)) return values;
  if (values.size() > 4 * kTried) {
    const std::string_view tried = values.substr(values.size() / 2, kTried);
    if (!saves(compressed(tried), tried)) return values;
  }
  const std::string_view packed = compressed(values);
  return saves(packed, values) ? packed : values;
}

void ChunkEncoder::append_page(PageHeader header, std::string_view levels, std::string_view values,
                               EncodedGroup& group) {
  header.compressed_bytes = size_of(levels.size() + values.size());
  header.crc = static_cast<std::int32_t>(page_sum(values, page_sum(levels)));
  EncodedGroup::Chunk& chunk = group.chunks.back();
  const std::size_t before = group.bytes.size();
  ThriftWriter(group.bytes).write(header);
  chunk.meta.uncompressed_bytes +=
      static_cast<std::int64_t>(group.bytes.size() - before) + header.uncompressed_bytes;
  group.bytes += levels;
  group.bytes += values;
  chunk.meta.compressed_bytes += static_cast<std::int64_t>(group.bytes.size() - before);
}

void ChunkEncoder::add_dictionary_page(const PageValues& values, EncodedGroup& group) {
  PageHeader header;
  header.type = kDictionaryPage;
  header.uncompressed_bytes = size_of(values.plain.size());
  header.dictionary = DictionaryPageHeader{size_of(values.count), number_of(Encoding::kPlain)};
  ColumnMetaData& meta = group.chunks.back().meta;
  meta.dictionary_page_offset = static_cast<std::int64_t>(group.bytes.size());
  append_page(header, {}, values.stored, group);
}

void ChunkEncoder::add_data_page(const OutputColumn& column, const ChunkLevels& levels,
                                 const PageValues& values, Encoding encoding, EncodedGroup& group) {
  level_bytes_.clear();
  if (!levels.repetition.empty()) write_levels(levels.repetition, level_bytes_);
  const std::size_t repetition = level_bytes_.size();
  if (!levels.definition.empty()) {
    write_levels(levels.definition, level_bytes_);
  } else if (column.repeat != OutputColumn::Repeat::kRequired) {
    write_level_run(1, values.count, level_bytes_);
  }
  EncodedGroup::Chunk& chunk = group.chunks.back();
  const std::size_t num_levels =
      levels.definition.empty() ? values.count : levels.definition.size();
  PageHeader header;
  header.type = kDataPageV2;
  header.uncompressed_bytes = size_of(level_bytes_.size() + values.plain.size());
  DataPageHeaderV2& data = header.data_v2.emplace();
  data.num_values = size_of(num_levels);
  data.num_nulls = size_of(num_levels - values.count);
  data.num_rows = size_of(group.rows);
  data.encoding = number_of(encoding);
  data.definition_bytes = size_of(level_bytes_.size() - repetition);
  data.repetition_bytes = size_of(repetition);
  data.is_compressed = values.is_compressed();
  chunk.meta.num_values = static_cast<std::int64_t>(num_levels);
  chunk.meta.data_page_offset = static_cast<std::int64_t>(group.bytes.size());
  chunk.page.offset = chunk.meta.data_page_offset;
  append_page(header, level_bytes_, values.stored, group);
  chunk.page.compressed_bytes =
      size_of(group.bytes.size() - static_cast<std::size_t>(chunk.page.offset));
}

/// Writes wide integers to value_bytes_ as their differences; returns whether that saves a quarter.
/// Ids of 32 bits in a column of 64 save nearly a half so.
template <class Word>
bool ChunkEncoder::pack_deltas(const OutputColumn& column, std::span<const Word> values) {
  if constexpr (sizeof(Word) == sizeof(std::uint64_t)) {
    if (column.type != OutputColumn::Type::kInt64) return false;
    value_bytes_.clear();
    return write_delta(values, value_bytes_) && value_bytes_.size() <= values.size_bytes() * 3 / 4;
  }
  return false;
}

template <class Word>
void ChunkEncoder::add_chunk(const OutputColumn& column, const ChunkLevels& levels,
                             std::span<const Word> values, Dictionary<Word>& dictionary,
                             EncodedGroup& group) {
  ColumnMetaData& meta = group.chunks.emplace_back().meta;
  meta.type = physical_of(column.type);
  meta.path = {column.name};
  if (column.repeat == OutputColumn::Repeat::kList) meta.path = {column.name, "list", "element"};
  meta.encodings = {number_of(Encoding::kPlain), number_of(Encoding::kRle)};
  PageValues data{.plain = bytes_of(values), .stored = {}, .count = values.size()};
  PageValues entries;
  Encoding encoding = Encoding::kPlain;
  if (dictionary.build(values)) {
    encoding = Encoding::kRleDictionary;
    meta.encodings.push_back(number_of(Encoding::kRleDictionary));
    value_bytes_.assign(1, static_cast<char>(dictionary.width()));
    write_rle(dictionary.indices(), dictionary.width(), value_bytes_);
    data.plain = value_bytes_;
    entries.plain = bytes_of(dictionary.entries());
    entries.count = dictionary.entries().size();
    data.stored = data.plain;
    entries.stored = entries.plain;
  } else if (pack_deltas(column, values)) {
    meta.encodings.push_back(number_of(Encoding::kDeltaBinaryPacked));
    encoding = Encoding::kDeltaBinaryPacked;
    data.plain = value_bytes_;
    data.stored = data.plain;
  } else {
    data.stored = smaller(data.plain);
  }
  meta.codec = static_cast<std::int32_t>(data.is_compressed() ? Codec::kZstd : Codec::kNone);
  if (entries.count > 0) add_dictionary_page(entries, group);
  add_data_page(column, levels, data, encoding, group);
}

template void ChunkEncoder::add_chunk(const OutputColumn&, const ChunkLevels&,
                                      std::span<const std::uint32_t>, Dictionary<std::uint32_t>&,
                                      EncodedGroup&);
template void ChunkEncoder::add_chunk(const OutputColumn&, const ChunkLevels&,
                                      std::span<const std::uint64_t>, Dictionary<std::uint64_t>&,
                                      EncodedGroup&);

}  // namespace forebay::parquet
