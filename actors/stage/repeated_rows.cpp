#include "actors/stage/repeated_rows.h"

#include <map>

#include "actors/stage/set_columns.h"

namespace forebay {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Where the rows of each set begin in a table of the rows of all sets. The slices of one split, or
/// of its parts, share their sets.
class SetPlaces {
 public:
  SetPlaces(std::span<const RowSlice> slices, std::size_t group) {
    for (const RowSlice& slice : slices) {
      const auto [places, is_new] = of_columns_.try_emplace(slice.columns);
      if (!is_new) continue;
      for (const auto& set : slice.columns->repeated[group].sets) {
        const auto [place, is_first] = places_.emplace(set.get(), rows_);
        if (is_first) rows_ += set->rows;
        places->second.push_back(place->second);
      }
    }
  }

  std::size_t rows() const { return rows_; }
  const std::vector<std::size_t>& of(const ColumnSet& columns) const {
    return of_columns_.at(&columns);
  }

 private:
  std::map<const ColumnSet*, std::size_t> places_;
  std::map<const ColumnSet*, std::vector<std::size_t>> of_columns_;
  std::size_t rows_ = 0;
};

}  // namespace

RepeatedRows::RepeatedRows(std::span<const RowSlice> slices, std::size_t group,
                           const FeatureGroup& features) {
  number(slices, group);
  measure(features.sparse.size());
}

void RepeatedRows::number(std::span<const RowSlice> slices, std::size_t group) {
  const SetPlaces places(slices, group);
  std::vector<std::uint32_t> number_of(places.rows(), kNone);
  for (const RowSlice& slice : slices) {
    const RepeatedColumns& columns = slice.columns->repeated[group];
    const std::vector<std::size_t>& first = places.of(*slice.columns);
    for (std::size_t row = slice.begin; row < slice.end; ++row) {
      const UniqueRow at = columns.rows[row];
      std::uint32_t& number = number_of[first[at.set] + at.row];
      if (number == kNone) {
        number = static_cast<std::uint32_t>(sources_.size());
        sources_.push_back({columns.sets[at.set].get(), at.row});
        first_rows_.push_back(static_cast<std::uint32_t>(numbers_.size()));
        times_.push_back(0);
      }
      ++times_[number];
      numbers_.push_back(number);
    }
  }
}

void RepeatedRows::measure(std::size_t features) {
  ids_.assign(features, {});
  for (std::size_t column = 0; column < features; ++column) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const std::size_t length = list_of(sources_[i], column).length;
      ids_[column].all += times_[i] * length;
      ids_[column].unique += length;
    }
  }
}

RepeatedRows::List RepeatedRows::list_of(const Source& source, std::size_t column) {
  const SetColumns set(*source.set);
  const std::size_t first = set.first_id(column, source.row);
  return {first, set.first_id(column, source.row + 1) - first};
}

std::int64_t* RepeatedRows::write_list(const Source& source, std::size_t column,
                                       std::int64_t* ids) {
  const List list = list_of(source, column);
  if (list.length > 0) SetColumns(*source.set).copy_ids(column, list.first, list.length, ids);
  return ids + list.length;
}

void RepeatedRows::write_lengths(std::size_t column, std::int32_t* lengths) const {
  for (const std::uint32_t number : numbers_) {
    *lengths++ = static_cast<std::int32_t>(list_of(sources_[number], column).length);
  }
}

void RepeatedRows::write_ids(std::size_t column, std::int64_t* ids) const {
  for (const std::uint32_t number : numbers_) ids = write_list(sources_[number], column, ids);
}

void RepeatedRows::write_unique_ids(std::size_t column, std::int64_t* ids) const {
  for (const Source& source : sources_) ids = write_list(source, column, ids);
}

void RepeatedRows::write_dense(std::size_t column, std::size_t stride, float* values) const {
  for (const std::uint32_t number : numbers_) {
    *values = SetColumns(*sources_[number].set).dense(column, sources_[number].row);
    values += stride;
  }
}

}  // namespace forebay
