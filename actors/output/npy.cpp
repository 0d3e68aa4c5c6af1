#include "actors/output/npy.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "actors/output/batch_columns.h"
#include "core/base/check.h"

namespace forebay::npy {
namespace {

/// Writes the one id of each of some rows to every `stride`-th number of `out`, 0 for none; returns
/// the ids after them.
const std::int64_t* add_ids(std::span<const std::int32_t> lengths, const std::int64_t* id,
                            std::size_t stride, std::int32_t* out) {
  for (const std::int32_t length : lengths) {
    *out = length == 0 ? 0 : static_cast<std::int32_t>(*id);
    id += length;
    out += stride;
  }
  return id;
}

/// The same for rows of which none lacks its id.
const std::int64_t* add_each(std::size_t rows, const std::int64_t* id, std::size_t stride,
                             std::int32_t* out) {
  for (std::size_t row = 0; row < rows; ++row)
    out[row * stride] = static_cast<std::int32_t>(id[row]);
  return id + rows;
}

/// A tile of rows at a time, so that the rows being written stay in the first-level cache.
void interleave(const std::vector<SparseRows>& columns, std::size_t rows, std::int32_t* out) {
  constexpr std::size_t kTile = 64;
  std::vector<const std::int64_t*> ids;
  ids.reserve(columns.size());
  for (const SparseRows& column : columns) ids.push_back(column.ids.data());
  for (std::size_t tile = 0; tile < rows; tile += kTile) {
    const std::size_t count = std::min(kTile, rows - tile);
    std::int32_t* const to = out + tile * columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool each = columns[i].ids.size() == rows;
      ids[i] =
          each ? add_each(count, ids[i], columns.size(), to + i)
               : add_ids(columns[i].lengths.subspan(tile, count), ids[i], columns.size(), to + i);
    }
  }
}

/// Memory for `count` numbers in a text.
std::int32_t* numbers_in(std::string& bytes, std::size_t count) {
  bytes.resize(count * sizeof(std::int32_t));
  return reinterpret_cast<std::int32_t*>(bytes.data());
}

}  // namespace

// Magic, version 1.0, the size of the text as two bytes; the text ends in a newline, and all of it
// takes a multiple of 64 bytes.
std::string header(const std::string& type, std::uint64_t rows, std::uint64_t columns) {
  constexpr std::size_t kBefore = 10;
  std::string out("\x93NUMPY\x01\0", 8);
  out.push_back(static_cast<char>(kHeaderBytes - kBefore));
  out.push_back(0);
  out += "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
         ", " + std::to_string(columns) + "), }";
  FOREBAY_CHECK(out.size() < kHeaderBytes);
  out.resize(kHeaderBytes - 1, ' ');
  return out + '\n';
}

Result<Rows> encode(const Batch& batch, const Schema& schema, Rows used) {
  Rows out = std::move(used);
  std::transform(batch.labels, batch.labels + batch.rows, numbers_in(out.labels, batch.rows),
                 [](float label) { return static_cast<std::int32_t>(label); });
  const std::vector<SparseRows> columns = sparse_rows(batch);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].longest <= 1) continue;
    return fail(Code::kInvalid, "column " + schema.sparse[i].name +
                                    ": a row has more than one id, and npy holds one; keep one by "
                                    "an operator such as first_x, or convert to parquet");
  }
  interleave(columns, batch.rows, numbers_in(out.sparse, batch.rows * columns.size()));
  return out;
}

std::string_view dense_bytes(const Batch& batch) {
  return {reinterpret_cast<const char*>(batch.dense),
          batch.rows * batch.dense_features * sizeof(float)};
}

}  // namespace forebay::npy
