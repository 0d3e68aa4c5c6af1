#include "actors/format/parquet/repeat_sample.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/distinct_lists.h"
#include "core/base/cpu_level.h"
#include "core/data/column_set.h"
#include "core/data/repeated_columns.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;   // of all columns
constexpr std::size_t kColumnBytes = std::size_t{4} << 20;  // of one: a dictionary and some pages
constexpr std::size_t kMostRows = 10'000;
constexpr std::size_t kMostIds = std::size_t{1} << 20;  // of a list column

/// The leaf as if its values were ids: whole numbers by their bits, anything else by a hash of its
/// bytes.
Leaf by_its_bits(Leaf leaf) {
  leaf.list_size = 0;
  switch (leaf.physical) {
    case Physical::kBoolean:
      leaf.meaning = Meaning::kBoolean;
      return leaf;
    case Physical::kInt32:
    case Physical::kFloat:
      leaf.physical = Physical::kInt32;
      leaf.meaning = Meaning::kSigned;
      return leaf;
    case Physical::kInt64:
    case Physical::kDouble:
      leaf.physical = Physical::kInt64;
      leaf.meaning = Meaning::kSigned;
      return leaf;
    case Physical::kInt96:
      leaf.physical = Physical::kFixedBytes;
      leaf.bytes = 12;
      break;
    case Physical::kByteArray:
    case Physical::kFixedBytes:
      break;
  }
  leaf.meaning = Meaning::kText;
  return leaf;
}

/// Compares the rows of one column after the other; keeps memory for their ids.
class ColumnSampler {
 public:
  explicit ColumnSampler(BufferPool& pool)
      : decoder_(best_cpu_level(), pool),
        ids_(pool.take(kMostIds * sizeof(std::int64_t))),
        offsets_(pool.take((kMostRows + 1) * sizeof(std::int32_t))) {}

  /// `pages` are the first bytes of the chunk; the last page may be cut off.
  RepeatSample sample(const Leaf& leaf, const Group& group, const Chunk& chunk,
                      std::span<const char> pages) {
    const PageReader::Limits limits{
        .codec = chunk.codec, .page_bytes = chunk.page_bytes(), .values = chunk.values};
    const RowRange range{.rows = std::min<std::size_t>(group.rows, kMostRows)};
    const std::vector<std::uint8_t> stored =
        leaf.is_list() ? lists(leaf, pages, limits, range) : values(leaf, pages, limits, range);
    const auto different = std::ranges::count(stored, std::uint8_t{1});
    return {.rows = stored.size(), .different = static_cast<std::uint64_t>(different)};
  }

 private:
  // The problem that a decoder returns is that the pages end before the range does.

  std::vector<std::uint8_t> lists(const Leaf& leaf, std::span<const char> pages,
                                  const PageReader::Limits& limits, const RowRange& range) {
    DistinctLists lists({ids_.as<std::int64_t>(), offsets_.as<std::int32_t>()}, kMostIds);
    static_cast<void>(decoder_.distinct(leaf, pages, limits, range, lists));
    return lists.finish();
  }

  std::vector<std::uint8_t> values(const Leaf& leaf, std::span<const char> pages,
                                   const PageReader::Limits& limits, const RowRange& range) {
    IdSink sink{.values = ids_.as<std::int64_t>(),
                .room = kMostIds,
                .offsets = offsets_.as<std::int32_t>()};
    sink.offsets[0] = 0;
    static_cast<void>(decoder_.sparse(leaf, pages, limits, range, sink));
    ColumnSet column;
    column.rows = sink.rows;
    column.sparse = {{sink.values, sink.jagged ? sink.offsets : nullptr}};
    return rows_that_differ(column, {.dense = {}, .sparse = {0}});
  }

  ColumnDecoder decoder_;
  const Buffer ids_;
  const Buffer offsets_;
};

}  // namespace

Result<std::vector<RepeatSample>> sample_repeats(const InputFile& file, const Footer& footer,
                                                 BufferPool& pool) {
  std::vector<RepeatSample> samples(footer.leaves.size());
  const auto group =
      std::ranges::find_if(footer.groups, [](const Group& each) { return each.rows > 0; });
  if (group == footer.groups.end() || samples.empty() || overlap(group->chunks)) return samples;
  const std::size_t each = std::min(kMostBytes / samples.size(), kColumnBytes);
  std::vector<Buffer> pages;
  std::vector<ReadRange> ranges;
  for (const Chunk& chunk : group->chunks) {
    const std::size_t bytes = std::min<std::uint64_t>(chunk.bytes, each);
    pages.push_back(pool.take(bytes));
    if (bytes > 0) ranges.push_back({chunk.offset, {pages.back().as<char>(), bytes}});
  }
  if (auto read = file.begin_read(ranges)->wait(); !read) return pass(read);
  ColumnSampler sampler(pool);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Leaf& leaf = footer.leaves[i];
    const Chunk& chunk = group->chunks[i];
    if (leaf.meaning == Meaning::kOther || chunk.unread != Unread::kNo) continue;
    samples[i] = sampler.sample(by_its_bits(leaf), *group, chunk,
                                {pages[i].as<const char>(), pages[i].size()});
  }
  return samples;
}

}  // namespace forebay::parquet
