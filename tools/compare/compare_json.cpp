#include "tools/compare/compare_json.h"

#include <string_view>

namespace forebay {
namespace {

using tuner::ComparedRun;
using tuner::Distribution;
using tuner::Gap;
using tuner::PolicySummary;
using tuner::Recovery;

JsonObject& add_count(JsonObject& object, std::string_view key,
                      const std::optional<std::uint64_t>& count) {
  return count ? object.add(key, *count) : object.add(key, std::optional<double>());
}

JsonObject json_of(const Recovery& recovery) {
  JsonObject object;
  object.add("at_seconds", recovery.at_seconds);
  add_count(object, "decisions_to_95", recovery.decisions_to_95);
  return object;
}

JsonObject json_of(const ComparedRun& run) {
  std::vector<JsonObject> recoveries;
  for (const Recovery& recovery : run.figures.recoveries) recoveries.push_back(json_of(recovery));
  JsonObject object;
  object.add("pipeline", run.pipeline)
      .add("policy", run.policy)
      .add("seed", run.seed)
      .add("decisions", run.decisions)
      .add("ratio_overall", run.figures.ratio_overall)
      .add("ratio_after_30", run.figures.ratio_after_30)
      .add("ratio_final", run.figures.ratio_final);
  add_count(object, "decisions_to_95", run.figures.decisions_to_95);
  return object.add("out_of_memory", run.out_of_memory)
      .add("peak_memory_bytes", run.figures.memory_peak)
      .add("memory_limit_bytes", run.memory_limit)
      .add("cpus_used", run.figures.cpus_used)
      .add("actors", run.figures.actors)
      .add("actors_fewest", run.figures.actors_fewest)
      .add("bottleneck_share", run.bottleneck_share)
      .add("seconds_per_decision", run.record.seconds_per_decision)
      .add("guarded_decisions", run.record.guarded)
      .add("faults", run.record.faults)
      .add("recoveries", recoveries);
}

JsonObject json_of(const Distribution& values) {
  return JsonObject().add("mean", values.mean).add("median", values.median).add("p5", values.p5);
}

JsonObject json_of(const PolicySummary& summary) {
  return JsonObject()
      .add("runs", summary.runs)
      .add("ratio_overall", json_of(summary.ratio_overall))
      .add("ratio_after_30", json_of(summary.ratio_after_30))
      .add("ratio_final", json_of(summary.ratio_final))
      .add("decisions_to_95", summary.decisions_to_95)
      .add("never_95", summary.never_95)
      .add("recoveries", summary.recoveries)
      .add("recovery_decisions_to_95", summary.recovery_decisions)
      .add("never_recovered", summary.never_recovered)
      .add("out_of_memory", summary.out_of_memory)
      .add("actors_over_fewest", summary.actors_over_fewest)
      .add("cpus_used", summary.cpus_used)
      .add("memory_share", summary.memory_share)
      .add("memory_share_most", summary.memory_share_most)
      .add("seconds_per_decision", summary.seconds_per_decision)
      .add("faults", summary.faults);
}

JsonObject json_of(const Gap& gap) {
  return JsonObject()
      .add("pipeline", gap.pipeline)
      .add("measure", gap.measure)
      .add("policy", gap.rival)
      .add("intune", gap.ours)
      .add("ahead", gap.theirs)
      .add("by", gap.by())
      .add("cause", gap.cause);
}

template <class Values>
std::vector<JsonObject> list_of(const Values& values) {
  std::vector<JsonObject> list;
  list.reserve(values.size());
  for (const auto& value : values) list.push_back(json_of(value));
  return list;
}

}  // namespace

JsonObject json_of(const ComparisonResult& result) {
  JsonObject summary;
  for (const PolicySummary& each : result.summaries) summary.add(each.policy, json_of(each));
  return JsonObject()
      .add("runs", list_of(result.runs))
      .add("summary", summary)
      .add("behind", list_of(result.gaps));
}

}  // namespace forebay
