#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/data/schema.h"

namespace forebay {

/// Where a feature is that belongs to a group of repeated columns.
struct PlaceInGroup {
  std::size_t group = 0;
  std::size_t column = 0;  ///< Of its kind in the group.
};

/// For each of `features` features of a kind, FeatureGroup::dense or FeatureGroup::sparse, its
/// place, if a group has it.
inline std::vector<std::optional<PlaceInGroup>> places_in_groups(
    const std::vector<FeatureGroup>& groups, std::vector<std::size_t> FeatureGroup::*kind,
    std::size_t features) {
  std::vector<std::optional<PlaceInGroup>> places(features);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<std::size_t>& members = groups[group].*kind;
    for (std::size_t i = 0; i < members.size(); ++i) places[members[i]] = PlaceInGroup{group, i};
  }
  return places;
}

}  // namespace forebay
