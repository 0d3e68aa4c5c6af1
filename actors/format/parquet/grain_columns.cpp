#include "actors/format/parquet/grain_columns.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/data/repeated_columns.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kMostIds = std::numeric_limits<std::int32_t>::max();  // offsets are 32-bit

/// Removes the ids of the rows that are not kept from those behind `before`.
void compact_ids(const std::vector<std::uint32_t>& kept, const IdSink& before, IdSink& now) {
  now.rows = before.rows + kept.size();
  now.count = before.count;
  if (!now.jagged) {
    for (const std::uint32_t row : kept) now.values[now.count++] = now.values[before.rows + row];
    return;
  }
  std::int32_t* const ends = now.offsets + before.rows + 1;
  for (std::size_t to = 0; to < kept.size(); ++to) {
    // No end before this row's was overwritten, unless by the same number.
    const std::size_t row = kept[to];
    const auto first = row == 0 ? before.count : static_cast<std::size_t>(ends[row - 1]);
    const auto last = static_cast<std::size_t>(ends[row]);
    std::copy(now.values + first, now.values + last, now.values + now.count);
    now.count += last - first;
    ends[to] = static_cast<std::int32_t>(now.count);
  }
}

}  // namespace

GrainColumns::GrainColumns(const WantedColumns& wanted, BufferPool& pool)
    : wanted_(wanted), pool_(pool) {
  const std::vector<FeatureGroup>& groups = wanted_.schema.repeated;
  for (const auto& place : places_in_groups(groups, &FeatureGroup::dense, wanted_.dense.size()))
    dense_.push_back({.place = place ? 0 : plain_dense_++, .repeated = place});
  const auto places = places_in_groups(groups, &FeatureGroup::sparse, wanted_.sparse.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    ids_.push_back({.leaf = wanted_.sparse[i], .repeated = places[i]});
}

std::optional<BadRow> GrainColumns::reserve(std::vector<LoadedGrain>& grains, bool keep_origins) {
  for (const LoadedGrain& grain : grains) rows_ += grain.head.rows;
  for (IdColumn& column : ids_) {
    for (LoadedGrain& grain : grains) {
      column.is_list |= grain.head.leaves[column.leaf].most_repetition > 0;
      auto most = grain.most_ids(column.leaf);
      if (!most) return problem_in(grain, wanted_.leaves[column.leaf], most.error().message);
      column.ids.room += *most;
      grain.room.push_back(*most);
    }
    if (column.ids.room > kMostIds)
      return problem_in(grains.front(), wanted_.leaves[column.leaf],
                        "more ids than can be read at once");
  }
  const std::size_t flat = static_cast<std::size_t>(std::ranges::count_if(
      ids_, [](const IdColumn& column) { return !column.repeated && !column.is_list; }));
  const ColumnFill::Shape shape{.rows = rows_,
                                .dense = plain_dense_,
                                .sparse = flat,
                                .origins = keep_origins,
                                .weights = wanted_.weight.has_value(),
                                .extras = wanted_.extra.size()};
  if (auto problem = check_room(grains, shape.dense_bytes() + shape.sparse_bytes())) return problem;
  fill_.emplace(shape, pool_);
  place_ids();
  for (const FeatureGroup& group : wanted_.schema.repeated)
    groups_.emplace_back(group, rows_, pool_);
  return std::nullopt;
}

// What the lists of all columns take, or of those that are in no group.
std::size_t GrainColumns::list_bytes(bool of_groups) const {
  std::size_t bytes = 0;
  for (const IdColumn& column : ids_) {
    if (column.repeated && !of_groups) continue;
    if (column.is_list) bytes += list_column_bytes(rows_, column.ids.room);
  }
  return bytes;
}

// Refuses lists that take more memory than is reserved for these grains (most_values() in
// parquet_file.cpp), and names the longest ones. `flat` is what the other columns take.
std::optional<BadRow> GrainColumns::check_room(const std::vector<LoadedGrain>& grains,
                                               std::size_t flat) const {
  std::uint64_t reserved = 0;
  for (const LoadedGrain& grain : grains) reserved += grain.block->decoded;
  const std::size_t lists = list_bytes(true);
  if (lists == 0 || flat + lists <= reserved) return std::nullopt;
  const auto longest = std::ranges::max_element(
      ids_, {}, [](const IdColumn& column) { return column.is_list ? column.ids.room : 0; });
  return problem_in(grains.front(), wanted_.leaves[longest->leaf],
                    "its lists have up to " + std::to_string(longest->ids.room) + " ids in " +
                        std::to_string(rows_) +
                        " rows, more than twice what the sizes of its pages let expect, and no "
                        "memory is reserved for them; write the file with smaller row groups, "
                        "or without a page index");
}

void GrainColumns::place_ids() {
  const std::size_t bytes = list_bytes(false);
  if (bytes > 0) lists_ = pool_.take(bytes);
  SlabCarver carver(lists_.data());
  std::size_t flat = 0;
  for (IdColumn& column : ids_) {
    if (column.repeated) continue;
    if (column.is_list) {
      column.ids.values = carver.take<std::int64_t>(column.ids.room);
      column.ids.offsets = carver.take<std::int32_t>(rows_ + 1);
    } else {
      const SparseFill& fill = fill_->sparse[flat++];
      column.ids.values = fill.values;
      column.ids.offsets = fill.offsets;
    }
    column.ids.offsets[0] = 0;
  }
}

void GrainColumns::compact(std::size_t begin, const std::vector<std::uint32_t>& kept,
                           const std::vector<IdColumn>& before) {
  const auto gather = [&](auto* column) {
    for (std::size_t i = 0; i < kept.size(); ++i) column[begin + i] = column[begin + kept[i]];
  };
  gather(fill_->labels);
  for (float* const column : fill_->dense) gather(column);
  for (std::int64_t* const column : fill_->extras) gather(column);
  if (fill_->weights != nullptr) gather(fill_->weights);
  for (const RepeatedGroup& group : groups_) gather(group.references());
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!ids_[i].repeated) compact_ids(kept, before[i].ids, ids_[i].ids);
  }
}

ColumnSet GrainColumns::finish(std::size_t rows) {
  fill_->rows = rows;
  ColumnSet columns = fill_->finish();
  const std::vector<float*> plain = std::exchange(columns.dense, {});
  for (const DenseColumn& column : dense_)
    columns.dense.push_back(column.repeated ? nullptr : plain[column.place]);
  columns.sparse.clear();
  for (const IdColumn& column : ids_) {
    // Without lists, as many ids as rows are one id in each.
    const bool jagged = column.ids.jagged && (column.is_list || column.ids.count != rows);
    columns.sparse.push_back({column.ids.values, jagged ? column.ids.offsets : nullptr});
  }
  if (lists_) columns.slabs.push_back(std::move(lists_));
  for (RepeatedGroup& group : groups_) group.finish(columns);
  return columns;
}

}  // namespace forebay::parquet
