#include "actors/stage/row_mover.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>

namespace forebay {
namespace {

using Slices = std::span<const RowSlice>;
using Places = std::span<const std::uint32_t>;

/// The ids of sparse feature number `feature`.
std::size_t ids_of(Slices slices, std::size_t feature) {
  std::size_t ids = 0;
  for (const RowSlice& slice : slices) {
    const SparseColumn& column = slice.columns->sparse[feature];
    ids += column.first_id(slice.end) - column.first_id(slice.begin);
  }
  return ids;
}

/// Whether each row of every slice has exactly one id.
bool has_one_each(Slices slices, std::size_t feature) {
  return std::ranges::all_of(slices, [feature](const RowSlice& slice) {
    return slice.columns->sparse[feature].offsets == nullptr;
  });
}

/// Asks for the values of a slice of a column. The slices of a part are short and far from each
/// other, so that the processor itself would wait for the start of each.
template <class T>
void fetch(const T* column, const RowSlice& slice) {
  constexpr std::size_t kLine = 64 / sizeof(T);
  for (std::size_t row = slice.begin; row < slice.end; row += kLine) {
    __builtin_prefetch(column + row);
  }
}

/// Moves one column of all slices: reads each slice from start to end, writes within the result,
/// which fits into a cache.
template <class T, class ColumnOf>
T* scatter(Slices slices, Places places, SlabCarver& carver, const ColumnOf& column_of) {
  constexpr std::size_t kAhead = 3;  // slices
  T* to = carver.take<T>(places.size());
  const std::uint32_t* place = places.data();
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const RowSlice& slice = slices[i];
    if (const std::size_t next = i + kAhead; next < slices.size()) {
      fetch(column_of(*slices[next].columns), slices[next]);
    }
    const T* from = column_of(*slice.columns);
    for (std::size_t row = slice.begin; row < slice.end; ++row) to[*place++] = from[row];
  }
  return to;
}

/// Calls `visit` with each list of a feature, its first id and length, and its row's new place.
template <class Visitor>
void for_each_list(Slices slices, Places places, std::size_t feature, const Visitor& visit) {
  const std::uint32_t* place = places.data();
  for (const RowSlice& slice : slices) {
    const SparseColumn& from = slice.columns->sparse[feature];
    for (std::size_t row = slice.begin; row < slice.end; ++row) {
      const std::size_t first = from.first_id(row);
      visit(from.values + first, from.first_id(row + 1) - first, *place++);
    }
  }
}

/// Writes the offsets of the moved lists: first each list's length at its place.
void scatter_offsets(Slices slices, Places places, std::size_t feature, std::int32_t* offsets) {
  offsets[0] = 0;
  for_each_list(slices, places, feature,
                [offsets](const std::int64_t*, std::size_t length, std::uint32_t place) {
                  offsets[place + 1] = static_cast<std::int32_t>(length);
                });
  std::inclusive_scan(offsets, offsets + places.size() + 1, offsets);
}

/// Whether every list has at most one id. This is the usual case; such lists are moved without a
/// branch on their length.
bool at_most_one(const std::int32_t* offsets, std::size_t rows) {
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < rows; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  return longest <= 1;
}

/// Moves lists of at most one id. An empty list's id is written behind the last one, where a column
/// has padding.
void scatter_short(Slices slices, Places places, std::size_t feature, const SparseColumn& to) {
  const std::int32_t behind = to.offsets[places.size()];
  for_each_list(slices, places, feature,
                [&](const std::int64_t* ids, std::size_t length, std::uint32_t place) {
                  to.values[length == 0 ? behind : to.offsets[place]] = *ids;
                });
}

void scatter_lists(Slices slices, Places places, std::size_t feature, const SparseColumn& to) {
  for_each_list(slices, places, feature,
                [&](const std::int64_t* ids, std::size_t length, std::uint32_t place) {
                  std::memcpy(to.values + to.offsets[place], ids, length * sizeof(std::int64_t));
                });
}

SparseColumn scatter(Slices slices, Places places, std::size_t feature, SlabCarver& carver) {
  if (has_one_each(slices, feature)) {
    return {scatter<std::int64_t>(
                slices, places, carver,
                [feature](const ColumnSet& set) { return set.sparse[feature].values; }),
            nullptr};
  }
  SparseColumn to;
  to.values = carver.take<std::int64_t>(ids_of(slices, feature));
  to.offsets = carver.take<std::int32_t>(places.size() + 1);
  scatter_offsets(slices, places, feature, to.offsets);
  const auto move = at_most_one(to.offsets, places.size()) ? scatter_short : scatter_lists;
  move(slices, places, feature, to);
  return to;
}

/// Moves the references to repeated rows; the rows themselves stay where they are. The sets of all
/// slices come one behind the other, those of a set with several slices once.
RepeatedColumns scatter_repeated(Slices slices, Places places, std::size_t group,
                                 SlabCarver& carver) {
  RepeatedColumns moved{.sets = {}, .rows = carver.take<UniqueRow>(places.size())};
  std::map<const ColumnSet*, std::uint32_t> first_sets;
  const std::uint32_t* place = places.data();
  for (const RowSlice& slice : slices) {
    const RepeatedColumns& from = slice.columns->repeated[group];
    const auto next = static_cast<std::uint32_t>(moved.sets.size());
    const auto [own, is_new] = first_sets.emplace(slice.columns, next);
    if (is_new) moved.sets.insert(moved.sets.end(), from.sets.begin(), from.sets.end());
    for (std::size_t row = slice.begin; row < slice.end; ++row) {
      moved.rows[*place++] = {.set = own->second + from.rows[row].set, .row = from.rows[row].row};
    }
  }
  return moved;
}

}  // namespace

std::size_t rows_of(Slices slices) {
  return std::transform_reduce(slices.begin(), slices.end(), std::size_t{0}, std::plus<>(),
                               [](const RowSlice& slice) { return slice.rows(); });
}

std::size_t moved_bytes(Slices slices, std::size_t rows) {
  const ColumnSet& first = *slices.front().columns;
  const auto dense = first.dense.size() - static_cast<std::size_t>(std::ranges::count(
                                              first.dense, static_cast<float*>(nullptr)));
  std::size_t bytes = SlabCarver::aligned<float>(rows) * (dense + 1);
  bytes += SlabCarver::aligned<UniqueRow>(rows) * first.repeated.size();
  if (first.origins != nullptr) bytes += SlabCarver::aligned<RowOrigin>(rows);
  if (first.weights != nullptr) bytes += SlabCarver::aligned<float>(rows);
  bytes += SlabCarver::aligned<std::int64_t>(rows) * first.extras.size();
  for (std::size_t i = 0; i < first.sparse.size(); ++i) {
    if (first.sparse[i].values == nullptr) continue;
    bytes += SlabCarver::aligned<std::int64_t>(ids_of(slices, i));
    if (!has_one_each(slices, i)) bytes += SlabCarver::aligned<std::int32_t>(rows + 1);
  }
  return bytes;
}

ColumnSet move_rows(Slices slices, Places places, BufferPool& pool) {
  ColumnSet moved;
  moved.rows = places.size();
  moved.slabs.push_back(pool.take(moved_bytes(slices, moved.rows)));
  SlabCarver carver(moved.slabs.back().data());
  const ColumnSet& first = *slices.front().columns;
  moved.labels =
      scatter<float>(slices, places, carver, [](const ColumnSet& set) { return set.labels; });
  if (first.origins != nullptr) {
    moved.origins = scatter<RowOrigin>(slices, places, carver,
                                       [](const ColumnSet& set) { return set.origins; });
  }
  moved.dense.assign(first.dense.size(), nullptr);
  for (std::size_t i = 0; i < first.dense.size(); ++i) {
    if (first.dense[i] == nullptr) continue;
    moved.dense[i] =
        scatter<float>(slices, places, carver, [i](const ColumnSet& set) { return set.dense[i]; });
  }
  moved.sparse.resize(first.sparse.size());
  for (std::size_t i = 0; i < first.sparse.size(); ++i) {
    if (first.sparse[i].values == nullptr) continue;
    moved.sparse[i] = scatter(slices, places, i, carver);
  }
  for (std::size_t group = 0; group < first.repeated.size(); ++group) {
    moved.repeated.push_back(scatter_repeated(slices, places, group, carver));
  }
  if (first.weights != nullptr) {
    moved.weights =
        scatter<float>(slices, places, carver, [](const ColumnSet& set) { return set.weights; });
  }
  for (std::size_t i = 0; i < first.extras.size(); ++i) {
    moved.extras.push_back(scatter<std::int64_t>(
        slices, places, carver, [i](const ColumnSet& set) { return set.extras[i]; }));
  }
  return moved;
}

}  // namespace forebay
