#include "actors/format/npy/npy_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "actors/format/column_fill.h"
#include "actors/format/npy/npy_decoder.h"

namespace forebay::npy {

NpyFile::NpyFile(const Wanted& wanted, Trio trio, std::vector<TrioColumn> columns)
    : trio_(std::move(trio)), columns_(std::move(columns)), shape_(shape_of(wanted, 0, true)) {
  for (std::size_t i = wanted.first_sparse(); i < wanted.weight(); ++i) {
    id_counts_.push_back(columns_[i].items);
  }
  unit_rows_ = std::max<std::uint64_t>(1, kUnitBytes / row_bytes());
}

// At least 1: the label is always read.
std::uint64_t NpyFile::row_bytes() const {
  std::uint64_t bytes = 0;
  for (std::size_t array = 0; array < trio_.arrays.size(); ++array) {
    const ArrayHeader& header = trio_.arrays[array].header;
    std::uint64_t wanted = 0;
    for (const TrioColumn& column : columns_) wanted += column.array == array ? column.items : 0;
    if (wanted > 0) bytes += header.by_column ? wanted * header.type.bytes : header.row_bytes();
  }
  return bytes;
}

NpyFile::Rows NpyFile::rows_of(std::uint64_t unit) const {
  const std::uint64_t first = unit * unit_rows_;
  return {.first = first, .count = std::min(unit_rows_, trio_.rows - first)};
}

std::uint64_t NpyFile::decoded_bytes(std::uint64_t rows) const {
  ColumnFill::Shape shape = shape_;
  shape.rows = rows;
  std::uint64_t bytes = shape.dense_bytes();
  for (const std::uint32_t count : id_counts_) bytes += list_column_bytes(rows, rows * count);
  return bytes;
}

std::vector<Unit> NpyFile::units() const {
  const std::uint64_t head = columns_.size() * sizeof(ColumnPlace);
  const std::uint64_t each = row_bytes();
  std::vector<Unit> units;
  for (std::uint64_t first = 0; first < trio_.rows; first += unit_rows_) {
    const std::uint64_t rows = std::min(unit_rows_, trio_.rows - first);
    units.push_back({.bytes = head + rows * each,
                     .decoded = decoded_bytes(rows),
                     .rows = static_cast<std::uint32_t>(rows)});
  }
  return units;
}

void NpyFile::read_by_column(std::size_t array, const Rows& rows, UnitRead& read,
                             std::uint64_t& bytes, std::vector<ColumnPlace>& places) const {
  const auto& [key, header, values] = trio_.arrays[array];
  const std::uint64_t item = header.type.bytes;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const TrioColumn& column = columns_[i];
    if (column.array != array) continue;
    places[i] = {.at = bytes,
                 .row_stride = static_cast<std::uint32_t>(item),
                 .item_stride = static_cast<std::uint32_t>(rows.count * item),
                 .items = column.items,
                 .type = header.type};
    for (std::uint64_t at = column.first; at < column.first + column.items; ++at) {
      read.ranges.push_back({values + (at * trio_.rows + rows.first) * item, rows.count * item});
      bytes += rows.count * item;
    }
  }
}

void NpyFile::read_array(std::size_t array, const Rows& rows, UnitRead& read, std::uint64_t& bytes,
                         std::vector<ColumnPlace>& places) const {
  const ArrayHeader& header = trio_.arrays[array].header;
  if (header.by_column) return read_by_column(array, rows, read, bytes, places);
  bool is_wanted = false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const TrioColumn& column = columns_[i];
    if (column.array != array) continue;
    is_wanted = is_wanted || column.items > 0;
    places[i] = {.at = bytes + std::uint64_t{column.first} * header.type.bytes,
                 .row_stride = static_cast<std::uint32_t>(header.row_bytes()),
                 .item_stride = header.type.bytes,
                 .items = column.items,
                 .type = header.type};
  }
  if (!is_wanted) return;
  const std::uint64_t size = rows.count * header.row_bytes();
  read.ranges.push_back({trio_.arrays[array].values + rows.first * header.row_bytes(), size});
  bytes += size;
}

UnitRead NpyFile::read_of(std::uint64_t unit) const {
  const Rows rows = rows_of(unit);
  UnitRead read;
  std::vector<ColumnPlace> places(columns_.size());
  std::uint64_t bytes = 0;
  for (std::size_t array = 0; array < trio_.arrays.size(); ++array) {
    read_array(array, rows, read, bytes, places);
  }
  read.head.resize(places.size() * sizeof(ColumnPlace));
  std::memcpy(read.head.data(), places.data(), read.head.size());
  return read;
}

}  // namespace forebay::npy
