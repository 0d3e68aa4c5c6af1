#include "actors/stage/batch_cutter.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/data/slab_carver.h"

namespace forebay {
namespace {

std::size_t first_id(const SparseColumn& column, std::size_t row) {
  return column.offsets == nullptr ? row : static_cast<std::size_t>(column.offsets[row]);
}

/// Columns to rows, a tile at a time, so that the rows being written stay in the first cache.
void interleave(const std::vector<float*>& columns, std::size_t begin, std::size_t end,
                float* out) {
  constexpr std::size_t kTile = 64;
  const std::size_t width = columns.size();
  for (std::size_t tile = begin; tile < end; tile += kTile) {
    const std::size_t tile_end = std::min(end, tile + kTile);
    for (std::size_t column = 0; column < width; ++column) {
      const float* from = columns[column];
      float* to = out + (tile - begin) * width + column;
      for (std::size_t row = tile; row < tile_end; ++row, to += width) *to = from[row];
    }
  }
}

void fill_lengths(const SparseColumn& column, std::size_t begin, std::size_t end,
                  std::int32_t* out) {
  if (column.offsets == nullptr) {
    std::fill_n(out, end - begin, 1);
    return;
  }
  for (std::size_t row = begin; row < end; ++row) {
    *out++ = column.offsets[row + 1] - column.offsets[row];
  }
}

}  // namespace

void BatchCutter::add(ColumnSet columns, std::size_t skip) {
  FOREBAY_CHECK(skip <= columns.rows);
  if (skip == columns.rows) return;
  rows_ += columns.rows - skip;
  pieces_.push_back({std::move(columns), skip});
}

std::vector<BatchCutter::Slice> BatchCutter::slices(std::size_t rows) const {
  std::vector<Slice> slices;
  for (auto piece = pieces_.begin(); rows > 0; ++piece) {
    const std::size_t taken = std::min(rows, piece->columns.rows - piece->begin);
    slices.push_back({&piece->columns, piece->begin, piece->begin + taken});
    rows -= taken;
  }
  return slices;
}

Batch BatchCutter::cut() {
  Batch batch;
  batch.rows = std::min(rows_, batch_size_);
  const std::vector<Slice> parts = slices(batch.rows);
  const ColumnSet& first = *parts.front().columns;
  batch.dense_features = first.dense.size();
  batch.sparse_features = first.sparse.size();
  for (const Slice& part : parts) {
    for (const SparseColumn& column : part.columns->sparse) {
      batch.num_ids += first_id(column, part.end) - first_id(column, part.begin);
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

  std::size_t row = 0;
  for (const Slice& part : parts) {
    const std::size_t rows = part.end - part.begin;
    std::memcpy(batch.labels + row, part.columns->labels + part.begin, rows * sizeof(float));
    interleave(part.columns->dense, part.begin, part.end, batch.dense + row * batch.dense_features);
    row += rows;
  }
  std::int64_t* ids = batch.ids;
  std::int32_t* lengths = batch.lengths;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    for (const Slice& part : parts) {
      const SparseColumn& column = part.columns->sparse[feature];
      const std::size_t begin = first_id(column, part.begin);
      const std::size_t count = first_id(column, part.end) - begin;
      std::memcpy(ids, column.values + begin, count * sizeof(std::int64_t));
      fill_lengths(column, part.begin, part.end, lengths);
      ids += count;
      lengths += part.end - part.begin;
    }
  }
  consume(batch.rows);
  return batch;
}

void BatchCutter::consume(std::size_t rows) {
  rows_ -= rows;
  while (rows > 0) {
    Piece& piece = pieces_.front();
    const std::size_t taken = std::min(rows, piece.columns.rows - piece.begin);
    piece.begin += taken;
    rows -= taken;
    if (piece.begin == piece.columns.rows) pieces_.pop_front();
  }
}

std::size_t BatchCutter::drop() {
  pieces_.clear();
  return std::exchange(rows_, 0);
}

Digest BatchCutter::digest(const Batch& batch) {
  return Digest::of_parts(
      {{batch.labels, batch.rows * sizeof(float)},
       {batch.dense, batch.rows * batch.dense_features * sizeof(float)},
       {batch.lengths, batch.rows * batch.sparse_features * sizeof(std::int32_t)},
       {batch.ids, batch.num_ids * sizeof(std::int64_t)}});
}

}  // namespace forebay
