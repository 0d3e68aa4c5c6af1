#include "actors/stage/set_columns.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace forebay {
namespace {

/// Transposes columns to rows, a tile at a time, so that the rows being written stay in the
/// first-level cache. Columns received over the network may be unaligned, so values are copied as
/// bytes.
template <class Column>
void interleave(const std::vector<Column>& columns, std::size_t begin, std::size_t end,
                float* out) {
  constexpr std::size_t kTile = 64;
  const std::size_t width = columns.size();
  for (std::size_t tile = begin; tile < end; tile += kTile) {
    const std::size_t tile_end = std::min(end, tile + kTile);
    for (std::size_t column = 0; column < width; ++column) {
      if (columns[column] == nullptr) continue;  // stored once, elsewhere
      const auto* from = reinterpret_cast<const std::byte*>(columns[column]);
      float* to = out + (tile - begin) * width + column;
      for (std::size_t row = tile; row < tile_end; ++row, to += width) {
        std::memcpy(to, from + row * sizeof(float), sizeof(float));
      }
    }
  }
}

}  // namespace

float SetColumns::dense(std::size_t feature, std::size_t row) const {
  if (!set_.packed) return set_.dense[feature][row];
  float value = 0;
  std::memcpy(&value, set_.packed->dense[feature] + row * sizeof(float), sizeof(float));
  return value;
}

void SetColumns::copy_labels(std::size_t begin, std::size_t end, float* out) const {
  if (!set_.packed) {
    std::memcpy(out, set_.labels + begin, (end - begin) * sizeof(float));
    return;
  }
  for (const std::byte* at = set_.packed->labels + begin; begin < end; ++begin) {
    *out++ = static_cast<float>(*at++);
  }
}

void SetColumns::copy_weights(std::size_t begin, std::size_t end, float* out) const {
  std::memcpy(out, weights() + begin * sizeof(float), (end - begin) * sizeof(float));
}

void SetColumns::copy_extra(std::size_t extra, std::size_t begin, std::size_t end,
                            std::int64_t* out) const {
  const std::byte* column = set_.packed ? set_.packed->extras[extra]
                                        : reinterpret_cast<const std::byte*>(set_.extras[extra]);
  std::memcpy(out, column + begin * sizeof(std::int64_t), (end - begin) * sizeof(std::int64_t));
}

void SetColumns::copy_lengths(std::size_t feature, std::size_t begin, std::size_t end,
                              std::int32_t* out) const {
  const std::int32_t* offsets =
      set_.packed ? set_.packed->sparse[feature].offsets : set_.sparse[feature].offsets;
  if (offsets == nullptr) {
    const std::uint32_t each = set_.packed ? set_.packed->sparse[feature].each : 1;
    std::fill_n(out, end - begin, static_cast<std::int32_t>(each));
    return;
  }
  for (std::size_t row = begin; row < end; ++row) *out++ = offsets[row + 1] - offsets[row];
}

void SetColumns::copy_dense(std::size_t begin, std::size_t end, float* out) const {
  if (set_.packed) return interleave(set_.packed->dense, begin, end, out);
  interleave(set_.dense, begin, end, out);
}

void SetColumns::copy_ids(std::size_t feature, std::size_t first, std::size_t count,
                          std::int64_t* out) const {
  if (!set_.packed) {
    std::memcpy(out, set_.sparse[feature].values + first, count * sizeof(std::int64_t));
    return;
  }
  const PackedIds& ids = set_.packed->sparse[feature];
  widen_ids(ids.values + first * static_cast<std::size_t>(ids.width), ids.width, count, out);
}

}  // namespace forebay
