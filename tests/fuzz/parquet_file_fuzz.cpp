// Any bytes as a Parquet file: footer, offset indexes, page headers and every encoding. Reading it
// ends with rows or a message, and every instruction set finds the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/parquet/convert.h"
#include "actors/format/parquet/footer.h"
#include "actors/format/parquet/grain_decoder.h"
#include "actors/format/parquet/parquet_file.h"
#include "actors/format/parquet/wanted_columns.h"
#include "tests/support/memory_file_system.h"

namespace forebay::fuzz {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 26;  // of memory

/// The first column that can be dense is the label; the others are what they can be.
ColumnSpec all_columns(const parquet::Footer& footer) {
  ColumnSpec spec;
  for (const parquet::Leaf& leaf : footer.leaves) {
    const bool dense = parquet::why_not_dense(leaf).empty();
    if (dense && spec.label.empty() && leaf.list_size == 0)
      spec.label = leaf.name;
    else if (parquet::why_not_sparse(leaf).empty())
      spec.sparse.push_back(leaf.name);
    else if (dense)
      spec.dense.push_back(leaf.name);
  }
  return spec;
}

RawSplit load(const InputFile& file, const UnitRead& read, const BlockRef& block,
              BufferPool& pool) {
  RawSplit raw;
  raw.blocks = {block};
  raw.sizes = {read.bytes()};
  raw.bytes = pool.take(read.bytes());
  char* at = std::ranges::copy(read.head, raw.bytes.as<char>()).out;
  for (const FileRange& range : read.ranges) {
    if (!file.read(range.offset, {at, range.bytes})) std::abort();
    at += range.bytes;
  }
  return raw;
}

void check_equal(const Decoded& one, const Decoded& other) {
  if (one.damaged.has_value() != other.damaged.has_value()) std::abort();
  if (one.columns.rows != other.columns.rows || one.bad.size() != other.bad.size()) std::abort();
  for (std::size_t i = 0; i < one.columns.sparse.size(); ++i) {
    const SparseColumn& ids = one.columns.sparse[i];
    const SparseColumn& others = other.columns.sparse[i];
    const std::size_t count = ids.count(one.columns.rows);
    if (count != others.count(one.columns.rows)) std::abort();
    if (!std::equal(ids.values, ids.values + count, others.values)) std::abort();
  }
}

void read_all(const InputFile& file) {
  auto footer = parquet::read_footer(file);
  if (!footer) return;
  auto wanted = parquet::want_columns(all_columns(*footer), footer->leaves);
  if (!wanted) return;
  auto opened = parquet::open_parquet_file(file, std::move(*footer), *wanted);
  if (!opened) return;
  const std::vector<Unit> units = (*opened)->units();
  MemoryBudget budget(kMost);
  BufferPool pool(budget);
  std::uint64_t row = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(units.size(), 8); ++i) {
    const Unit& unit = units[i];
    if (unit.decoded > kMost || unit.bytes > kMost) continue;
    const BlockRef block{
        .file = 0, .rows = unit.rows, .offset = row, .bytes = unit.bytes, .line = i};
    const RawSplit raw = load(file, (*opened)->read_of(i), block, pool);
    const Decoded portable = parquet::decode_grains(*wanted, CpuLevel::kBaseline, raw, {}, pool);
    check_equal(portable, parquet::decode_grains(*wanted, best_cpu_level(), raw, {}, pool));
    row += unit.rows;
  }
}

}  // namespace
}  // namespace forebay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forebay::test::MemoryFileSystem files;
  files.write("memory://a", std::string(reinterpret_cast<const char*>(data), size));
  const auto file = files.open("memory://a");
  if (!file) std::abort();
  forebay::fuzz::read_all(**file);
  return 0;
}
