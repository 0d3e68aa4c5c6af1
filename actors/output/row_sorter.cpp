#include "actors/output/row_sorter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "actors/output/batch_columns.h"
#include "core/base/check.h"

namespace forebay {
namespace {

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

/// Orders signed integers as unsigned ones.
std::uint64_t key_of(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ std::uint64_t{1} << 63;
}

std::uint64_t key_of(double value) {
  if (std::isnan(value)) return kLast;
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? ~static_cast<std::uint64_t>(bits) : key_of(bits);
}

/// A tile's records stay in the first-level cache.
constexpr std::size_t kTile = 64;

template <class T>
const std::byte* take(const std::byte* from, T* to, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
  return from + count * sizeof(T);
}

template <class T>
std::byte* put(const T* from, std::size_t count, std::byte* to) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
  return to + count * sizeof(T);
}

}  // namespace

Result<SortColumn> SortColumn::find(const Schema& schema, const std::string& label,
                                    const std::string& weight, const std::string& name) {
  if (name == label) return SortColumn{Kind::kLabel, 0};
  if (schema.weight && name == weight) return SortColumn{Kind::kWeight, 0};
  std::string known = schema.weight ? label + ", " + weight : label;
  const auto is_it = [&](const std::string& column) {
    known += ", " + column;
    return column == name;
  };
  for (std::size_t i = 0; i < schema.dense.size(); ++i) {
    if (is_it(schema.dense[i])) return SortColumn{Kind::kDense, i};
  }
  for (std::size_t i = 0; i < schema.sparse.size(); ++i) {
    if (is_it(schema.sparse[i].name)) return SortColumn{Kind::kSparse, i};
  }
  for (std::size_t i = 0; i < schema.extra.size(); ++i) {
    const bool integer = schema.extra[i].kind == ExtraColumn::Kind::kInt64;
    if (is_it(schema.extra[i].name)) return SortColumn{integer ? Kind::kInteger : Kind::kReal, i};
  }
  return fail(Code::kInvalid,
              "--sort " + name + ": the rows have no such column; they have " + known);
}

std::uint64_t SortColumn::key(const Batch& batch, std::size_t row,
                              const std::int64_t* first_id) const {
  switch (kind) {
    case Kind::kLabel:
      return key_of(static_cast<double>(batch.labels[row]));
    case Kind::kDense:
      return key_of(static_cast<double>(batch.dense[row * batch.dense_features + number]));
    case Kind::kSparse:
      return batch.lengths[number * batch.rows + row] == 0 ? kLast : key_of(*first_id);
    case Kind::kWeight:
      return key_of(static_cast<double>(batch.weights[row]));
    case Kind::kInteger:
      return key_of(batch.extras[number * batch.rows + row]);
    case Kind::kReal:
      return key_of(std::bit_cast<double>(batch.extras[number * batch.rows + row]));
  }
  return kLast;
}

std::uint64_t RowSorter::most_bytes(std::uint64_t batch, std::uint64_t rows) {
  return kRunBytes + pool_bytes(batch) + rows * 2 * sizeof(Row);  // rows_ may double as it grows
}

// Lengths, label, weight, dense values, extra values; the ids follow.
std::size_t RowSorter::values_bytes() const {
  return (like_.sparse_features + 2 + like_.dense_features) * sizeof(std::uint32_t) +
         like_.extra_columns * sizeof(std::int64_t);
}

void RowSorter::add(const Batch& batch) {
  like_.dense_features = batch.dense_features;
  like_.sparse_features = batch.sparse_features;
  like_.extra_columns = batch.extra_columns;
  like_.weights = batch.weights;  // only whether there are any
  std::vector<const std::int64_t*> ids;
  for (const SparseRows& column : sparse_rows(batch)) ids.push_back(column.ids.data());
  Buffer records = pool_.take(batch.rows * values_bytes() + batch.num_ids * sizeof(std::int64_t));
  FOREBAY_CHECK(records.size() <= std::numeric_limits<std::uint32_t>::max());
  bytes_ += records.size() + batch.rows * 2 * sizeof(Row);
  const auto number = static_cast<std::uint32_t>(records_.size());
  const bool by_ids = column_.kind == SortColumn::Kind::kSparse;
  std::byte* to = records.data();
  for (std::size_t row = 0; row < batch.rows; ++row) {
    rows_.push_back({column_.key(batch, row, by_ids ? ids[column_.number] : nullptr), number,
                     static_cast<std::uint32_t>(to - records.data())});
    const auto length_of = [&](std::size_t feature) {
      return batch.lengths + feature * batch.rows + row;
    };
    for (std::size_t i = 0; i < ids.size(); ++i) to = put(length_of(i), 1, to);
    to = put(batch.labels + row, 1, to);
    to = put(batch.weights == nullptr ? batch.labels + row : batch.weights + row, 1, to);
    to = put(batch.dense + row * batch.dense_features, batch.dense_features, to);
    for (std::size_t extra = 0; extra < batch.extra_columns; ++extra) {
      to = put(batch.extras + extra * batch.rows + row, 1, to);
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      to = put(ids[i], static_cast<std::size_t>(*length_of(i)), to);
      ids[i] += *length_of(i);
    }
  }
  records_.push_back(std::move(records));
}

std::shared_ptr<const Batch> RowSorter::next(std::size_t rows) {
  if (given_ == 0) sort();
  if (given_ == rows_.size()) {
    records_.clear();
    rows_.clear();
    given_ = 0;
    bytes_ = 0;
    return nullptr;
  }
  const auto taken = std::span(rows_).subspan(given_, std::min(rows, rows_.size() - given_));
  Batch batch = room_for(taken);
  gather_values(taken, batch);
  gather_ids(taken, batch);
  given_ += taken.size();
  return std::make_shared<const Batch>(std::move(batch));
}

// All rows differ by their places, so that equal ones keep their order without more memory.
void RowSorter::sort() {
  std::ranges::sort(rows_, {},
                    [](const Row& row) { return std::tuple(row.key, row.batch, row.offset); });
}

Batch RowSorter::room_for(std::span<const Row> rows) const {
  const std::size_t count = rows.size();
  Batch batch;
  batch.rows = count;
  batch.dense_features = like_.dense_features;
  batch.sparse_features = like_.sparse_features;
  batch.extra_columns = like_.extra_columns;
  std::vector<std::int32_t> lengths(like_.sparse_features);
  for (const Row& row : rows) {
    take(record(row), lengths.data(), lengths.size());
    for (const std::int32_t length : lengths) batch.num_ids += static_cast<std::size_t>(length);
  }
  using Carve = SlabCarver;
  batch.storage = pool_.take(2 * Carve::aligned<float>(count) +
                             Carve::aligned<float>(count * batch.dense_features) +
                             Carve::aligned<std::int32_t>(count * batch.sparse_features) +
                             Carve::aligned<std::int64_t>(batch.num_ids) +
                             Carve::aligned<std::int64_t>(count * batch.extra_columns));
  Carve carver(batch.storage.data());
  batch.labels = carver.take<float>(count);
  batch.dense = carver.take<float>(count * batch.dense_features);
  batch.lengths = carver.take<std::int32_t>(count * batch.sparse_features);
  batch.ids = carver.take<std::int64_t>(batch.num_ids);
  if (like_.weights != nullptr) batch.weights = carver.take<float>(count);
  if (like_.extra_columns > 0) {
    batch.extras = carver.take<std::int64_t>(count * batch.extra_columns);
  }
  return batch;
}

void RowSorter::gather_values(std::span<const Row> rows, const Batch& batch) const {
  std::vector<std::int32_t> lengths(batch.sparse_features);
  float weight = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::byte* from = take(record(rows[i]), lengths.data(), lengths.size());
    for (std::size_t feature = 0; feature < lengths.size(); ++feature) {
      batch.lengths[feature * batch.rows + i] = lengths[feature];
    }
    from = take(from, batch.labels + i, 1);
    from = take(from, batch.weights == nullptr ? &weight : batch.weights + i, 1);
    from = take(from, batch.dense + i * batch.dense_features, batch.dense_features);
    for (std::size_t extra = 0; extra < batch.extra_columns; ++extra) {
      from = take(from, batch.extras + extra * batch.rows + i, 1);
    }
  }
}

void RowSorter::gather_ids(std::span<const Row> rows, const Batch& batch) const {
  std::vector<std::int64_t*> to;
  std::int64_t* ids = batch.ids;
  for (const SparseRows& column : sparse_rows(batch)) {
    to.push_back(ids);
    ids += column.ids.size();
  }
  std::array<const std::byte*, kTile> from{};
  for (std::size_t tile = 0; tile < rows.size(); tile += kTile) {
    const std::size_t count = std::min(kTile, rows.size() - tile);
    for (std::size_t i = 0; i < count; ++i) from[i] = record(rows[tile + i]) + values_bytes();
    for (std::size_t feature = 0; feature < to.size(); ++feature) {
      const std::int32_t* const lengths = batch.lengths + feature * batch.rows + tile;
      for (std::size_t i = 0; i < count; ++i) {
        const auto length = static_cast<std::size_t>(lengths[i]);
        from[i] = take(from[i], to[feature], length);
        to[feature] += length;
      }
    }
  }
}

}  // namespace forebay
