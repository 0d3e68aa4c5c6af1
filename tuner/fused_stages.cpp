#include "tuner/fused_stages.h"

#include <algorithm>

#include "tuner/observation_sum.h"

namespace forebay::tuner {

Joins joins_of(const PipelineDescription& description, const Allocation& allocation) {
  Joins joins(description.stages.size());
  for (std::size_t i = 1; i < joins.size() && i < allocation.actors.size(); ++i) {
    joins[i] = allocation.actors[i] == 0 && description.stages[i].least_actors == 0;
  }
  return joins;
}

std::size_t end_of_group(const Joins& joins, std::size_t first) {
  std::size_t end = first + 1;
  while (end < joins.size() && joins[end]) ++end;
  return end;
}

// No stage's name has a plus sign.
std::string group_name(const std::vector<std::string>& stages) {
  std::string name;
  for (const std::string& stage : stages) name.append(name.empty() ? "" : "+").append(stage);
  return name;
}

std::vector<std::string> stages_in(const std::string& group) {
  std::vector<std::string> stages;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = group.find('+', at);
    stages.push_back(group.substr(at, end == std::string::npos ? end : end - at));
  }
  return stages;
}

PipelineDescription fused(const PipelineDescription& description, const Joins& joins) {
  PipelineDescription groups = description;
  groups.stages.clear();
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    const StageDescription& stage = description.stages[i];
    if (!joins[i]) {
      groups.stages.push_back(stage);
      groups.stages.back().least_actors = 1;
      continue;
    }
    StageDescription& group = groups.stages.back();
    group.name = group_name({group.name, stage.name});
    group.max_actors = std::min(group.max_actors, stage.max_actors);
    group.bytes_per_actor = std::max(group.bytes_per_actor, stage.bytes_per_actor);
  }
  return groups;
}

StageObservation observation_of_group(const std::vector<StageObservation>& stages) {
  if (stages.size() == 1) return stages.front();
  const StageObservation& first = stages.front();
  const StageObservation& last = stages.back();
  const double done = std::max(1.0, static_cast<double>(last.done));
  StageObservation all = first;
  double variance = 0;
  for (const StageObservation& each : stages) {
    if (&each != &first) add_sums(all, each);
    const double mean = (each.done_seconds - each.done_ready_seconds) / done;
    variance += std::max(0.0, each.done_seconds_squared / done - mean * mean);
  }
  // Each stage has the group's actors, and its splits.
  all.actor_seconds = first.actor_seconds;
  all.done = last.done;
  all.done_actors = first.done_actors;
  all.queue_fill = last.queue_fill;
  all.queued_bytes = last.queued_bytes;
  all.input_wait_seconds =
      std::max(0.0, all.actor_seconds - all.working_seconds - all.output_wait_seconds);
  // The times of a split in different stages are taken to be independent.
  const double mean = (all.done_seconds - all.done_ready_seconds) / done;
  all.done_seconds_squared = static_cast<double>(all.done) * (mean * mean + variance);
  return all;
}

Observation fused(const Observation& seen, const Joins& joins) {
  Observation groups = seen;
  groups.stages.clear();
  for (std::size_t first = 0; first < seen.stages.size(); first = end_of_group(joins, first)) {
    const auto begin = seen.stages.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = seen.stages.begin() + static_cast<std::ptrdiff_t>(end_of_group(joins, first));
    groups.stages.push_back(observation_of_group({begin, end}));
  }
  return groups;
}

Allocation apart(const Allocation& of_groups, const Joins& joins) {
  Allocation all{.prefetch = of_groups.prefetch};
  auto next = of_groups.actors.begin();
  for (const bool joined : joins) all.actors.push_back(joined ? 0 : *next++);
  return all;
}

std::string names_of_groups(const PipelineDescription& description, const Joins& joins) {
  std::string names;
  for (const StageDescription& group : fused(description, joins).stages) {
    names.append(names.empty() ? "" : ", ").append(group.name);
  }
  return names;
}

std::vector<GroupActors> groups_of(const PipelineDescription& description,
                                   const Allocation& allocation) {
  std::vector<GroupActors> groups;
  for (std::size_t i = 0; i < description.stages.size() && i < allocation.actors.size(); ++i) {
    const std::string& name = description.stages[i].name;
    if (i > 0 && allocation.actors[i] == 0) {
      groups.back().name = group_name({groups.back().name, name});
    } else {
      groups.push_back({name, allocation.actors[i]});
    }
  }
  return groups;
}

}  // namespace forebay::tuner
