#include "actors/stage/rows/row_scatter.h"

#include <cstring>
#include <map>
#include <numeric>

namespace forebay {

template <class Visitor>
void RowScatter::for_each_list(std::size_t feature, const Visitor& visit) const {
  const std::uint32_t* place = places_.data();
  for (const RowSlice& slice : slices_) {
    const SparseColumn& from = slice.columns->sparse[feature];
    for (std::size_t row = slice.begin; row < slice.end; ++row) {
      const std::size_t first = from.first_id(row);
      visit(from.values + first, from.first_id(row + 1) - first, *place++);
    }
  }
}

/// Writes the offsets of the moved lists: first each list's length at its place.
void RowScatter::write_offsets(std::size_t feature, std::int32_t* offsets) const {
  offsets[0] = 0;
  for_each_list(feature, [offsets](const std::int64_t*, std::size_t length, std::uint32_t place) {
    offsets[place + 1] = static_cast<std::int32_t>(length);
  });
  std::inclusive_scan(offsets, offsets + places_.size() + 1, offsets);
}

/// Moves lists of at most one id. An empty list's id is written behind the last one, where a column
/// has padding.
void RowScatter::write_short_lists(std::size_t feature, const SparseColumn& to) const {
  const std::int32_t behind = to.offsets[places_.size()];
  for_each_list(feature, [&](const std::int64_t* ids, std::size_t length, std::uint32_t place) {
    to.values[length == 0 ? behind : to.offsets[place]] = *ids;
  });
}

void RowScatter::write_lists(std::size_t feature, const SparseColumn& to) const {
  for_each_list(feature, [&](const std::int64_t* ids, std::size_t length, std::uint32_t place) {
    std::memcpy(to.values + to.offsets[place], ids, length * sizeof(std::int64_t));
  });
}

SparseColumn RowScatter::lists(std::size_t feature) const {
  if (has_one_each(slices_, feature)) {
    return {values([feature](const ColumnSet& set) { return set.sparse[feature].values; }),
            nullptr};
  }
  SparseColumn to;
  to.values = carver_.take<std::int64_t>(ids_of(slices_, feature));
  to.offsets = carver_.take<std::int32_t>(places_.size() + 1);
  write_offsets(feature, to.offsets);
  if (at_most_one(to.offsets, places_.size())) {
    write_short_lists(feature, to);
  } else {
    write_lists(feature, to);
  }
  return to;
}

RepeatedColumns RowScatter::repeated(std::size_t group) const {
  RepeatedColumns moved{.sets = {}, .rows = carver_.take<UniqueRow>(places_.size())};
  std::map<const ColumnSet*, std::uint32_t> first_sets;
  const std::uint32_t* place = places_.data();
  for (const RowSlice& slice : slices_) {
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

}  // namespace forebay
