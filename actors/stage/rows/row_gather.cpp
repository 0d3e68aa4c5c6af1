#include "actors/stage/rows/row_gather.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace forebay {
namespace {

/// Where a list is.
struct List {
  const std::int64_t* ids;
  std::int64_t length;
};
static_assert(sizeof(List) <= RowGather::kScratchRow);

}  // namespace

template <class ListOf, class Copy>
SparseColumn RowGather::gather_lists(std::size_t feature, const ListOf& list_of,
                                     const Copy& copy) const {
  const SparseColumn to{carver_.take<std::int64_t>(count_ids(slices_, feature)),
                        carver_.take<std::int32_t>(sources_.size() + 1)};
  std::int64_t end = 0;
  to.offsets[0] = 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const List list = list_of(i);
    copy(list, to.values + end);
    end += list.length;
    to.offsets[i + 1] = static_cast<std::int32_t>(end);
  }
  return to;
}

/// Lays the offsets of all slices out one behind the other, as of one column.
std::int32_t* RowGather::offsets_in_one_piece(std::size_t feature, std::int32_t* offsets) const {
  std::int32_t* to = offsets;
  *to++ = 0;
  for (const RowSlice& slice : slices_) {
    const SparseColumn& column = slice.columns->sparse[feature];
    const std::int32_t behind = to[-1];
    if (column.offsets == nullptr) {
      std::iota(to, to + slice.rows(), behind + 1);
    } else {
      const std::int32_t* from = column.offsets + slice.begin;
      std::transform(from + 1, from + slice.rows() + 1, to,
                     [&](std::int32_t end) { return end - from[0] + behind; });
    }
    to += slice.rows();
  }
  return offsets;
}

SparseColumn RowGather::short_lists(std::size_t feature) const {
  const std::int64_t* values = nullptr;
  const std::int32_t* offsets = nullptr;
  if (slices_.size() == 1) {
    values = slices_[0].columns->sparse[feature].values;
    offsets = slices_[0].columns->sparse[feature].offsets + slices_[0].begin;
  } else {
    std::int64_t* const all = in_one_piece<std::int64_t>(
        [feature](const RowSlice& slice) { return slice.ids_of(feature); });
    values = all;
    offsets =
        offsets_in_one_piece(feature, reinterpret_cast<std::int32_t*>(all + sources_.size() + 1));
  }
  const auto list_of = [&](std::size_t i) {
    const std::int32_t first = offsets[sources_[i]];
    return List{values + first, offsets[sources_[i] + 1] - first};
  };
  // The next list overwrites what an empty one copies; behind the last one a column has padding.
  return gather_lists(feature, list_of,
                      [](const List& list, std::int64_t* to) { *to = *list.ids; });
}

SparseColumn RowGather::long_lists(std::size_t feature) const {
  constexpr std::size_t kAhead = 8;  // lists
  List* const lists = reinterpret_cast<List*>(scratch_);
  List* next = lists;
  for (const RowSlice& slice : slices_) {
    const SparseColumn& column = slice.columns->sparse[feature];
    for (std::size_t row = slice.begin; row < slice.end; ++row) {
      const std::size_t first = column.first_id(row);
      const std::size_t length = column.first_id(row + 1) - first;
      *next++ = {column.values + first, static_cast<std::int64_t>(length)};
    }
  }
  const auto list_of = [&](std::size_t i) {
    if (i + kAhead < sources_.size()) __builtin_prefetch(lists[sources_[i + kAhead]].ids);
    return lists[sources_[i]];
  };
  return gather_lists(feature, list_of, [](const List& list, std::int64_t* to) {
    std::copy_n(list.ids, list.length, to);
  });
}

SparseColumn RowGather::lists(std::size_t feature) const {
  if (has_one_each(slices_, feature)) {
    return {values([feature](const ColumnSet& set) { return set.sparse[feature].values; }),
            nullptr};
  }
  return has_short_lists(slices_, feature) ? short_lists(feature) : long_lists(feature);
}

RepeatedColumns RowGather::repeated(std::size_t group) const {
  RepeatedColumns moved;
  std::map<const ColumnSet*, std::uint32_t> first_sets;
  auto* const rows = reinterpret_cast<UniqueRow*>(scratch_);
  UniqueRow* next = rows;
  for (const RowSlice& slice : slices_) {
    const RepeatedColumns& from = slice.columns->repeated[group];
    const auto behind = static_cast<std::uint32_t>(moved.sets.size());
    const auto [own, is_new] = first_sets.emplace(slice.columns, behind);
    if (is_new) moved.sets.insert(moved.sets.end(), from.sets.begin(), from.sets.end());
    for (std::size_t row = slice.begin; row < slice.end; ++row) {
      *next++ = {.set = own->second + from.rows[row].set, .row = from.rows[row].row};
    }
  }
  moved.rows = gather(rows);
  return moved;
}

}  // namespace forebay
