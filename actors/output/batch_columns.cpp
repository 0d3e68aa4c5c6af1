#include "actors/output/batch_columns.h"

#include <algorithm>

namespace forebay {
namespace {

struct Measured {
  std::size_t sum = 0;
  std::int32_t longest = 0;
};

// Sums of 32 bits suffice where no length passes 1, and the compiler makes vector instructions of
// them.
Measured measure(std::span<const std::int32_t> lengths) {
  std::uint32_t bits = 0;
  std::uint32_t ones = 0;
  for (const std::int32_t length : lengths) {
    bits |= static_cast<std::uint32_t>(length);
    ones += static_cast<std::uint32_t>(length);
  }
  if (bits <= 1) return {ones, static_cast<std::int32_t>(bits)};
  Measured all;
  for (const std::int32_t length : lengths) {
    all.sum += static_cast<std::size_t>(length);
    all.longest = std::max(all.longest, length);
  }
  return all;
}

}  // namespace

std::vector<SparseRows> sparse_rows(const Batch& batch) {
  std::vector<SparseRows> columns;
  const std::int64_t* ids = batch.ids;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    const std::span lengths(batch.lengths + feature * batch.rows, batch.rows);
    const Measured measured = measure(lengths);
    columns.push_back({{ids, measured.sum}, lengths, measured.longest});
    ids += measured.sum;
  }
  return columns;
}

// A tile at a time, so that the rows being read stay in the first-level cache.
void dense_columns(const Batch& batch, std::vector<float>& out) {
  constexpr std::size_t kTile = 64;
  const std::size_t width = batch.dense_features;
  out.resize(batch.rows * width);
  for (std::size_t tile = 0; tile < batch.rows; tile += kTile) {
    const std::size_t end = std::min(batch.rows, tile + kTile);
    for (std::size_t column = 0; column < width; ++column) {
      float* to = out.data() + column * batch.rows;
      const float* from = batch.dense + column;
      for (std::size_t row = tile; row < end; ++row) to[row] = from[row * width];
    }
  }
}

}  // namespace forebay
