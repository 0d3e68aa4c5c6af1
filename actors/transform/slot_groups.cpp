#include "actors/transform/slot_groups.h"

#include <algorithm>

namespace forebay {

SlotGroups::SlotGroups(const std::vector<FeatureGroup>& repeated, std::size_t decoded_dense,
                       std::size_t decoded_sparse)
    : dense_(decoded_dense, {.exists = true, .group = {}}),
      sparse_(decoded_sparse, {.exists = true, .group = {}}) {
  for (std::size_t group = 0; group < repeated.size(); ++group) {
    for (const std::size_t slot : repeated[group].dense) dense_[slot].group = group;
    for (const std::size_t slot : repeated[group].sparse) sparse_[slot].group = group;
  }
}

SlotGroups::Slot& SlotGroups::at(ColumnRef column) {
  std::vector<Slot>& all = slots(column.kind);
  if (column.index >= all.size()) all.resize(column.index + 1);
  return all[column.index];
}

std::optional<std::size_t> SlotGroups::group_of(ColumnRef column) const {
  const std::vector<Slot>& all = slots(column.kind);
  return column.index < all.size() ? all[column.index].group : std::nullopt;
}

/// The group of all columns that a step reads or changes; nullopt if they are not all in one.
std::optional<std::size_t> SlotGroups::common_group(const StepFacts& facts) const {
  if (facts.reads.empty()) return std::nullopt;
  const auto group = group_of(facts.reads.front());
  const auto is_in = [&](ColumnRef column) { return group_of(column) == group; };
  const auto is_in_or_new = [&](ColumnRef column) {
    const std::vector<Slot>& all = slots(column.kind);
    return column.index >= all.size() || !all[column.index].exists || is_in(column);
  };
  const bool all =
      std::ranges::all_of(facts.reads, is_in) && std::ranges::all_of(facts.writes, is_in_or_new);
  return all ? group : std::nullopt;
}

SlotGroups::Place SlotGroups::next(const StepFacts& facts, bool may_be_stored) {
  Place place;
  if (may_be_stored) place.group = common_group(facts);
  for (const auto& columns : {facts.reads, facts.writes}) {
    for (const ColumnRef column : columns) {
      Slot& slot = at(column);
      if (!place.group && slot.group) {
        place.plain.push_back({column, *slot.group});
        slot.group.reset();
      }
      if (place.group) slot.group = place.group;
      slot.exists = true;
    }
  }
  return place;
}

}  // namespace forebay
