#include "actors/stage/batcher.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

/// Index of the first id of `row` in the ids of sparse feature `feature`.
std::size_t first_id(const ColumnSet& columns, std::size_t feature, std::size_t row) {
  if (columns.packed) return columns.packed->sparse[feature].first_id(row);
  const std::int32_t* offsets = columns.sparse[feature].offsets;
  return offsets == nullptr ? row : static_cast<std::size_t>(offsets[row]);
}

std::size_t num_dense(const ColumnSet& columns) {
  return columns.packed ? columns.packed->dense.size() : columns.dense.size();
}

std::size_t num_sparse(const ColumnSet& columns) {
  return columns.packed ? columns.packed->sparse.size() : columns.sparse.size();
}

void fill_labels(const ColumnSet& columns, std::size_t begin, std::size_t end, float* out) {
  if (!columns.packed) {
    std::memcpy(out, columns.labels + begin, (end - begin) * sizeof(float));
    return;
  }
  for (const std::byte* at = columns.packed->labels + begin; begin < end; ++begin) {
    *out++ = static_cast<float>(*at++);
  }
}

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
      const auto* from = reinterpret_cast<const std::byte*>(columns[column]);
      float* to = out + (tile - begin) * width + column;
      for (std::size_t row = tile; row < tile_end; ++row, to += width) {
        std::memcpy(to, from + row * sizeof(float), sizeof(float));
      }
    }
  }
}

void fill_dense(const ColumnSet& columns, std::size_t begin, std::size_t end, float* out) {
  if (columns.packed) return interleave(columns.packed->dense, begin, end, out);
  interleave(columns.dense, begin, end, out);
}

void fill_ids(const ColumnSet& columns, std::size_t feature, std::size_t first, std::size_t count,
              std::int64_t* out) {
  if (!columns.packed) {
    std::memcpy(out, columns.sparse[feature].values + first, count * sizeof(std::int64_t));
    return;
  }
  const PackedIds& ids = columns.packed->sparse[feature];
  widen_ids(ids.values + first * static_cast<std::size_t>(ids.width), ids.width, count, out);
}

void fill_lengths(const ColumnSet& columns, std::size_t feature, std::size_t begin, std::size_t end,
                  std::int32_t* out) {
  const std::int32_t* offsets =
      columns.packed ? columns.packed->sparse[feature].offsets : columns.sparse[feature].offsets;
  if (offsets == nullptr) {
    const std::uint32_t each = columns.packed ? columns.packed->sparse[feature].each : 1;
    std::fill_n(out, end - begin, static_cast<std::int32_t>(each));
    return;
  }
  for (std::size_t row = begin; row < end; ++row) *out++ = offsets[row + 1] - offsets[row];
}

}  // namespace

void Batcher::add(ColumnSet columns, std::size_t skip) {
  FOREBAY_CHECK(skip <= columns.rows);
  if (skip == columns.rows) return;
  rows_ += columns.rows - skip;
  pieces_.push_back({std::move(columns), skip});
}

std::vector<Batcher::Slice> Batcher::slices(std::size_t rows) const {
  std::vector<Slice> slices;
  for (auto piece = pieces_.begin(); rows > 0; ++piece) {
    const std::size_t taken = std::min(rows, piece->columns.rows - piece->begin);
    slices.push_back({&piece->columns, piece->begin, piece->begin + taken});
    rows -= taken;
  }
  return slices;
}

Batch Batcher::cut() {
  const std::vector<Slice> parts = slices(std::min(rows_, batch_size_));
  Batch batch = room_for(parts);
  float* labels = batch.labels;
  float* dense = batch.dense;
  for (const Slice& part : parts) {
    fill_labels(*part.columns, part.begin, part.end, labels);
    fill_dense(*part.columns, part.begin, part.end, dense);
    labels += part.rows();
    dense += part.rows() * batch.dense_features;
  }
  std::int64_t* ids = batch.ids;
  std::int32_t* lengths = batch.lengths;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    for (const Slice& part : parts) {
      const std::size_t begin = first_id(*part.columns, feature, part.begin);
      const std::size_t count = first_id(*part.columns, feature, part.end) - begin;
      fill_ids(*part.columns, feature, begin, count, ids);
      fill_lengths(*part.columns, feature, part.begin, part.end, lengths);
      ids += count;
      lengths += part.rows();
    }
  }
  consume(batch.rows);
  return batch;
}

Batch Batcher::room_for(const std::vector<Slice>& parts) {
  Batch batch;
  batch.dense_features = num_dense(*parts.front().columns);
  batch.sparse_features = num_sparse(*parts.front().columns);
  for (const Slice& part : parts) {
    batch.rows += part.rows();
    for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
      batch.num_ids +=
          first_id(*part.columns, feature, part.end) - first_id(*part.columns, feature, part.begin);
    }
  }
  using Carve = SlabCarver;
  const std::size_t dense_values = batch.rows * batch.dense_features;
  const std::size_t lists = batch.rows * batch.sparse_features;
  batch.storage =
      pool_.take(Carve::aligned<float>(batch.rows) + Carve::aligned<float>(dense_values) +
                 Carve::aligned<std::int32_t>(lists) + Carve::aligned<std::int64_t>(batch.num_ids));
  Carve carver(batch.storage.data());
  batch.labels = carver.take<float>(batch.rows);
  batch.dense = carver.take<float>(dense_values);
  batch.lengths = carver.take<std::int32_t>(lists);
  batch.ids = carver.take<std::int64_t>(batch.num_ids);
  return batch;
}

void Batcher::consume(std::size_t rows) {
  rows_ -= rows;
  while (rows > 0) {
    Piece& piece = pieces_.front();
    const std::size_t taken = std::min(rows, piece.columns.rows - piece.begin);
    piece.begin += taken;
    rows -= taken;
    if (piece.begin == piece.columns.rows) pieces_.pop_front();
  }
}

std::size_t Batcher::drop() {
  pieces_.clear();
  return std::exchange(rows_, 0);
}

Digest Batcher::digest(const Batch& batch) {
  return Digest::of_parts(
      {{batch.labels, batch.rows * sizeof(float)},
       {batch.dense, batch.rows * batch.dense_features * sizeof(float)},
       {batch.lengths, batch.rows * batch.sparse_features * sizeof(std::int32_t)},
       {batch.ids, batch.num_ids * sizeof(std::int64_t)}});
}

}  // namespace forebay
