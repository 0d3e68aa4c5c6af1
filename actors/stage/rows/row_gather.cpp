#include "actors/stage/rows/row_gather.h"

#include <cstring>

namespace forebay {

template <class Copy>
void RowGather::write_lists(const SparseColumn& from, const SparseColumn& to,
                            const Copy& copy) const {
  const std::int32_t* offsets = from.offsets + slice_.begin;
  std::int32_t end = 0;
  to.offsets[0] = 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const std::int32_t first = offsets[sources_[i]];
    const std::int32_t length = offsets[sources_[i] + 1] - first;
    copy(from.values + first, length, to.values + end);
    end += length;
    to.offsets[i + 1] = end;
  }
}

SparseColumn RowGather::lists(std::size_t feature) const {
  const SparseColumn& from = slice_.columns->sparse[feature];
  if (from.offsets == nullptr) {
    return {values([feature](const ColumnSet& set) { return set.sparse[feature].values; }),
            nullptr};
  }
  SparseColumn to;
  to.values = carver_.take<std::int64_t>(ids_of({&slice_, 1}, feature));
  to.offsets = carver_.take<std::int32_t>(sources_.size() + 1);
  if (at_most_one(from.offsets + slice_.begin, sources_.size())) {
    // The next list overwrites what an empty one copied; behind the last one a column has padding.
    write_lists(from, to,
                [](const std::int64_t* ids, std::int32_t, std::int64_t* at) { *at = *ids; });
  } else {
    write_lists(from, to, [](const std::int64_t* ids, std::int32_t length, std::int64_t* at) {
      std::memcpy(at, ids, static_cast<std::size_t>(length) * sizeof(std::int64_t));
    });
  }
  return to;
}

RepeatedColumns RowGather::repeated(std::size_t group) const {
  return {.sets = slice_.columns->repeated[group].sets,
          .rows = values([group](const ColumnSet& set) { return set.repeated[group].rows; })};
}

}  // namespace forebay
