#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/format/column_choice.h"
#include "actors/format/csv/csv_row.h"
#include "core/data/places_in_groups.h"

namespace forebay {

/// Finds rows whose fields in a group of repeated columns have the same text as in the kept row
/// before them, so that they need not be parsed.
///
/// Belongs to one thread. `text` has all rows and outlives it.
class RepeatedFields {
 public:
  RepeatedFields(const ColumnChoice& choice, std::string_view text);

  bool any() const { return !groups_.empty(); }

  /// Compares a row with the kept row before it. The row has all of its fields.
  void compare(const CsvRow& row);
  /// Whether the row compared last repeats the field of dense, or sparse, feature number `feature`.
  bool repeats_dense(std::size_t feature) const { return repeats(dense_[feature]); }
  bool repeats_sparse(std::size_t feature) const { return repeats(sparse_[feature]); }
  /// The row compared last is kept.
  void keep(const CsvRow& row);

  /// Decoded::stored of the kept rows.
  std::vector<std::vector<std::uint8_t>> take_stored() { return std::move(stored_); }

 private:
  struct Group {
    std::vector<std::size_t> columns;    // of the file
    std::vector<std::string_view> last;  // fields of the kept row before; empty: unknown
    bool repeats = false;                // the row compared last
  };

  using Places = std::vector<std::optional<PlaceInGroup>>;
  bool repeats(const std::optional<PlaceInGroup>& place) const {
    return place && groups_[place->group].repeats;
  }

  std::string_view text_;
  std::vector<Group> groups_;
  Places dense_;   // [dense features]
  Places sparse_;  // [sparse features]
  std::vector<std::vector<std::uint8_t>> stored_;
};

}  // namespace forebay
