#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Which stages are fused with the stage before them: one actor does the work of both. An entry for
/// each stage, of which the first is false.
using Joins = std::vector<bool>;

/// The joins of an allocation: a stage with 0 actors is joined, if it may have so few.
Joins joins_of(const PipelineDescription& description, const Allocation& allocation);

/// The index behind the last stage of the group that begins with `first`.
std::size_t end_of_group(const Joins& joins, std::size_t first);

/// Names a group: `load+decode`.
std::string group_name(const std::vector<std::string>& stages);
/// Returns the names of the stages in a name of group_name().
std::vector<std::string> stages_in(const std::string& group);

/// The pipeline with each group as one stage: it has the tightest bound on actors and the largest
/// actor of its stages, and at least one.
PipelineDescription fused(const PipelineDescription& description, const Joins& joins);

/// What the actors of a group did for all of its stages, from what they did for each: a split is
/// done when it has passed the last one.
StageObservation observation_of_group(const std::vector<StageObservation>& stages);

/// The observation with each group as one stage; the actors of a group are those of its first
/// stage.
Observation fused(const Observation& seen, const Joins& joins);

/// The allocation of all stages, of which those that are joined have 0 actors, from one of groups.
Allocation apart(const Allocation& of_groups, const Joins& joins);

/// The groups in one line: `load, decode+shuffle`.
std::string names_of_groups(const PipelineDescription& description, const Joins& joins);

/// A group of an allocation: its name and the number of its actors.
struct GroupActors {
  std::string name;
  std::uint32_t actors = 0;
  friend bool operator==(const GroupActors&, const GroupActors&) = default;
};
/// The groups of an allocation of all stages, in order.
std::vector<GroupActors> groups_of(const PipelineDescription& description,
                                   const Allocation& allocation);

}  // namespace forebay::tuner
