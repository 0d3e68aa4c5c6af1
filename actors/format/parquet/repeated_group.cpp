#include "actors/format/parquet/repeated_group.h"

#include <memory>
#include <utility>

#include "actors/format/column_fill.h"

namespace forebay::parquet {

RepeatedGroup::RepeatedGroup(const FeatureGroup& features, std::size_t rows, BufferPool& pool)
    : features_(features), pool_(pool), references_(pool.take(rows * sizeof(UniqueRow))) {}

void RepeatedGroup::begin(std::size_t rows, std::span<const Room> sparse) {
  grain_ = {};
  ids_.clear();
  lists_.clear();
  std::size_t bytes = features_.dense.size() * SlabCarver::aligned<float>(rows);
  for (const Room& room : sparse) bytes += list_column_bytes(rows, room.ids);
  ColumnSet& columns = grain_.columns;
  columns.rows = rows;
  columns.slabs.push_back(pool_.take(bytes));
  SlabCarver carver(columns.slabs.back().data());
  for (std::size_t i = 0; i < features_.dense.size(); ++i) {
    columns.dense.push_back(carver.take<float>(rows));
  }
  for (const Room& room : sparse) {
    SparseColumn column;
    column.values = carver.take<std::int64_t>(room.ids);
    column.offsets = carver.take<std::int32_t>(rows + 1);
    column.offsets[0] = 0;
    columns.sparse.push_back(column);
    ids_.push_back({.values = column.values, .room = room.ids, .offsets = column.offsets});
    auto& lists = lists_.emplace_back();
    if (room.is_list) lists.emplace(column, room.ids);
  }
}

void RepeatedGroup::end(std::size_t place) {
  grain_.stored.resize(features_.dense.size());
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    grain_.stored.emplace_back();
    if (lists_[i]) {
      grain_.stored.back() = lists_[i]->finish();
    } else if (!ids_[i].jagged) {
      grain_.columns.sparse[i].offsets = nullptr;
    }
  }
  const auto set = static_cast<std::uint32_t>(done_.sets.size());
  done_.sets.push_back(std::make_shared<ColumnSet>(
      join_distinct(std::move(grain_), set, references() + place, pool_)));
}

void RepeatedGroup::finish(ColumnSet& columns) {
  done_.rows = references();
  columns.slabs.push_back(std::move(references_));
  columns.repeated.push_back(std::move(done_));
}

}  // namespace forebay::parquet
