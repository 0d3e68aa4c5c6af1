#include "actors/stage/rows/row_slices.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace forebay {
namespace {

using Slices = std::span<const RowSlice>;

bool at_most_one(const std::int32_t* offsets, std::size_t rows) {
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < rows; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  return longest <= 1;
}

template <class Count>
std::size_t sum_of(Slices slices, const Count& count) {
  return std::transform_reduce(slices.begin(), slices.end(), std::size_t{0}, std::plus<>(), count);
}

}  // namespace

std::size_t rows_of(Slices slices) {
  return sum_of(slices, [](const RowSlice& slice) { return slice.rows(); });
}

std::size_t count_ids(Slices slices, std::size_t feature) {
  return sum_of(slices, [feature](const RowSlice& slice) { return slice.ids_of(feature).size(); });
}

bool has_one_each(Slices slices, std::size_t feature) {
  return std::ranges::all_of(slices, [feature](const RowSlice& slice) {
    return slice.columns->sparse[feature].offsets == nullptr;
  });
}

bool has_short_lists(Slices slices, std::size_t feature) {
  return std::ranges::all_of(slices, [feature](const RowSlice& slice) {
    const std::int32_t* offsets = slice.columns->sparse[feature].offsets;
    return offsets == nullptr || at_most_one(offsets + slice.begin, slice.rows());
  });
}

}  // namespace forebay
