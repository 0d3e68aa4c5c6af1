// Any bytes as the pages of a column of any type: page headers, levels, dictionaries and every
// encoding. The first bytes choose the type, the codec and the rows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/convert.h"

namespace {

using forebay::Buffer;
using forebay::BufferPool;
using forebay::parquet::Codec;
using forebay::parquet::ColumnDecoder;
using forebay::parquet::DistinctLists;
using forebay::parquet::IdSink;
using forebay::parquet::Leaf;
using forebay::parquet::Meaning;
using forebay::parquet::PageReader;
using forebay::parquet::Physical;
using forebay::parquet::RowRange;

constexpr std::size_t kChoices = 6;
constexpr std::size_t kMostRows = 4096;

Leaf leaf_of(const std::uint8_t* choice) {
  Leaf leaf;
  leaf.type = "a column";
  leaf.physical = static_cast<Physical>(choice[0] % 8);
  leaf.meaning = static_cast<Meaning>(choice[1] % 8);
  leaf.bytes = choice[2] % 20;
  // Only a fixed size of two bytes is a float: leaf.cpp sees to it.
  if (leaf.physical == Physical::kFixedBytes && leaf.meaning == Meaning::kFloat) leaf.bytes = 2;
  leaf.most_definition = choice[3] % 5;
  leaf.most_repetition = choice[3] / 5 % 2;
  if (leaf.most_repetition > 0 && leaf.most_definition == 0) leaf.most_definition = 1;
  return leaf;
}

/// Whether the schema can give a type this meaning.
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
             leaf.physical == Physical::kFixedBytes;
    case Meaning::kDecimal:
      return whole || bytes;
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
  if (!is_possible(leaf)) return 0;
  constexpr Codec kCodecs[] = {Codec::kNone, Codec::kSnappy, Codec::kGzip,  Codec::kBrotli,
                               Codec::kLz4,  Codec::kZstd,   Codec::kLz4Raw};
  const PageReader::Limits limits{
      .codec = kCodecs[data[4] % 7], .page_bytes = 1 << 20, .values = kMostRows};
  const RowRange range{.skipped = data[5] % 16U, .rows = 1 + data[5] / 16U * 8U};
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
