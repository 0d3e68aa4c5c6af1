// Any bytes as the pages of a column of any type: page headers, levels, dictionaries and every
// encoding. The first bytes choose the type, with any annotation, the codec and the rows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/convert.h"
#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/thrift_structs.h"

namespace {

using forebay::Buffer;
using forebay::BufferPool;
using forebay::parquet::Codec;
using forebay::parquet::ColumnDecoder;
using forebay::parquet::DistinctLists;
using forebay::parquet::EmptyStruct;
using forebay::parquet::IdSink;
using forebay::parquet::IntType;
using forebay::parquet::Leaf;
using forebay::parquet::leaves_of;
using forebay::parquet::LogicalType;
using forebay::parquet::Meaning;
using forebay::parquet::PageReader;
using forebay::parquet::Physical;
using forebay::parquet::RowRange;
using forebay::parquet::SchemaElement;
using forebay::parquet::TimeType;

constexpr std::size_t kChoices = 6;
constexpr std::size_t kMostRows = 4096;

/// The type of a column that no list holds, as a schema may state it: any stored type with any
/// annotation, so that what does not fit together has to be refused.
SchemaElement element_of(const std::uint8_t* choice) {
  SchemaElement element;
  element.name = "c";
  element.type = choice[0] % 8;
  element.type_length = choice[2] < 240 ? choice[2] % 20 : 1 << 24;
  element.scale = 2;
  if (choice[1] % 2 == 1) element.converted_type = choice[1] / 2 % 22;
  LogicalType logical;
  switch (choice[1] / 2 % 16 * (1 - choice[1] % 2)) {
    case 1:
      logical.string = EmptyStruct();
      break;
    case 2:
      logical.uuid = EmptyStruct();
      break;
    case 3:
      logical.float16 = EmptyStruct();
      break;
    case 4:
      logical.decimal = {.scale = 2, .precision = 9};
      break;
    case 5:
      logical.date = EmptyStruct();
      break;
    case 6:
      logical.timestamp = TimeType();
      break;
    case 7:
      logical.integer = IntType();
      break;
    default:
      return element;
  }
  element.logical_type = logical;
  return element;
}

Leaf leaf_of(const std::uint8_t* choice) {
  SchemaElement root;
  root.name = "schema";
  root.children = 1;
  const auto leaves = leaves_of({root, element_of(choice)});
  if (!leaves || leaves->size() != 1) std::abort();
  Leaf leaf = leaves->front();
  leaf.most_definition = choice[3] % 5;
  leaf.most_repetition = choice[3] / 5 % 2;
  if (leaf.most_repetition > 0 && leaf.most_definition == 0) leaf.most_definition = 1;
  return leaf;
}

/// Whether values of this type can be read as having their meaning.
bool is_possible(const Leaf& leaf) {
  const bool whole = leaf.physical == Physical::kInt32 || leaf.physical == Physical::kInt64;
  const bool bytes =
      leaf.physical == Physical::kByteArray || leaf.physical == Physical::kFixedBytes;
  switch (leaf.meaning) {
    case Meaning::kBoolean:
      return leaf.physical == Physical::kBoolean;
    case Meaning::kSigned:
    case Meaning::kUnsigned:
    case Meaning::kDate:
      return whole;
    case Meaning::kTimestamp:
      return whole || leaf.physical == Physical::kInt96;
    case Meaning::kFloat:
      return leaf.physical == Physical::kFloat || leaf.physical == Physical::kDouble ||
             (leaf.physical == Physical::kFixedBytes && leaf.bytes == 2);
    case Meaning::kDecimal:
      return whole || bytes;
    case Meaning::kNull:
      return true;
    default:
      return leaf.meaning == Meaning::kText && bytes;
  }
}

struct Column {
  const Leaf& leaf;
  std::span<const char> pages;
  const PageReader::Limits& limits;
  RowRange range;
};

/// Lists stored once have to be the lists of every row, if these are sound.
void check_distinct(ColumnDecoder& decoder, const Column& column, bool sound, const IdSink& every) {
  std::vector<std::int64_t> values(kMostRows);
  std::vector<std::int32_t> offsets(column.range.rows + 1);
  DistinctLists lists({.values = values.data(), .offsets = offsets.data()}, values.size());
  const bool once =
      decoder.distinct(column.leaf, column.pages, column.limits, column.range, lists).empty();
  if (!sound) return;
  if (!once) std::abort();
  const std::vector<std::uint8_t> stored = lists.finish();
  if (stored.size() != column.range.rows) std::abort();
  std::size_t list = 0;
  for (std::size_t row = 0; row < stored.size(); ++row) {
    list += stored[row];
    const std::span all(every.values + every.offsets[row], every.values + every.offsets[row + 1]);
    const std::span own(values.data() + offsets[list - 1], values.data() + offsets[list]);
    if (!std::ranges::equal(all, own)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kChoices) return 0;
  Leaf leaf = leaf_of(data);
  if (leaf.meaning == Meaning::kOther) return 0;
  if (!is_possible(leaf)) std::abort();
  constexpr Codec kCodecs[] = {Codec::kNone, Codec::kSnappy, Codec::kGzip,  Codec::kBrotli,
                               Codec::kLz4,  Codec::kZstd,   Codec::kLz4Raw};
  const PageReader::Limits limits{
      .codec = kCodecs[data[4] % 7], .page_bytes = 1 << 20, .values = kMostRows};
  RowRange range{.skipped = data[5] % 16U, .rows = 1 + data[5] / 16U * 8U};
  if (data[3] >= 128) range.behind = data[3] / 10 - 12;  // as an offset index says
  forebay::MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  const std::size_t bytes = size - kChoices;
  const Buffer copy = pool.take(bytes);
  std::memcpy(copy.data(), data + kChoices, bytes);
  const std::span<const char> pages(copy.as<const char>(), bytes);
  for (const auto level : {forebay::CpuLevel::kBaseline, forebay::best_cpu_level()}) {
    ColumnDecoder decoder(level, pool);
    if (why_not_sparse(leaf).empty()) {
      std::vector<std::int64_t> values(kMostRows);
      std::vector<std::int32_t> offsets(range.rows + 1);
      IdSink sink{.values = values.data(), .room = values.size(), .offsets = offsets.data()};
      const bool sound = decoder.sparse(leaf, pages, limits, range, sink).empty();
      if (leaf.is_list()) check_distinct(decoder, {leaf, pages, limits, range}, sound, sink);
    }
    std::vector<float> floats(range.rows * 3);
    if (leaf.is_list()) leaf.list_size = 3;
    if (!why_not_dense(leaf).empty()) continue;
    if (leaf.is_list())
      decoder.fixed_lists(leaf, pages, limits, range, floats.data());
    else
      decoder.flat(leaf, pages, limits, range, 0.0F, floats.data());
    leaf.list_size = 0;
  }
  return 0;
}
