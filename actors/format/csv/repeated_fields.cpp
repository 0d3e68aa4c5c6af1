#include "actors/format/csv/repeated_fields.h"

#include <algorithm>
#include <functional>

namespace forebay {

RepeatedFields::RepeatedFields(const ColumnChoice& choice, std::string_view text)
    : text_(text),
      groups_(choice.schema.repeated.size()),
      dense_(places_in_groups(choice.schema.repeated, &FeatureGroup::dense, choice.dense.size())),
      sparse_(
          places_in_groups(choice.schema.repeated, &FeatureGroup::sparse, choice.sparse.size())),
      stored_(groups_.size()) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const FeatureGroup& features = choice.schema.repeated[i];
    for (const std::size_t feature : features.dense)
      groups_[i].columns.push_back(choice.dense[feature]);
    for (const std::size_t feature : features.sparse)
      groups_[i].columns.push_back(choice.sparse[feature]);
  }
}

void RepeatedFields::compare(const CsvRow& row) {
  for (Group& group : groups_) {
    group.repeats = !group.last.empty();
    for (std::size_t i = 0; group.repeats && i < group.columns.size(); ++i) {
      group.repeats = row.field(group.columns[i]) == group.last[i];
    }
  }
}

// The text of a field with doubled quotes lies outside `text_` and changes with the next row.
void RepeatedFields::keep(const CsvRow& row) {
  const auto lasts = [this](std::string_view field) {
    const std::less_equal<> at_most;
    return field.empty() || (at_most(text_.data(), field.data()) &&
                             at_most(field.data(), text_.data() + text_.size()));
  };
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    stored_[i].push_back(group.repeats ? 0 : 1);
    if (group.repeats) continue;
    group.last.clear();
    for (const std::size_t column : group.columns) group.last.push_back(row.field(column));
    if (!std::ranges::all_of(group.last, lasts)) group.last.clear();
  }
}

}  // namespace forebay
