#include "tuner/compare/gap.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tuner/compare/gap_cause.h"

namespace forebay::tuner {
namespace {

constexpr double kNoGap = 0.001;

using ByPolicy = std::map<std::string, RunGroup, std::less<>>;

using Measure = std::optional<double> (*)(const RunFigures&);
constexpr std::pair<std::string_view, Measure> kMeasures[] = {
    {"ratio_overall",
     [](const RunFigures& figures) -> std::optional<double> { return figures.ratio_overall; }},
    {"ratio_after_30", [](const RunFigures& figures) { return figures.ratio_after_30; }}};

std::optional<double> mean_over(const RunGroup& runs, Measure measure) {
  double sum = 0;
  for (const ComparedRun* run : runs) {
    const auto value = measure(run->figures);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(runs.size());
}

/// The policy that is furthest ahead of `ours`, and its value; empty if no policy is ahead.
std::optional<std::pair<std::string, double>> ahead_of(const ByPolicy& groups,
                                                       std::string_view policy, double ours,
                                                       Measure measure) {
  std::optional<std::pair<std::string, double>> best;
  for (const auto& [rival, runs] : groups) {
    if (rival == policy || rival == "oracle") continue;
    const auto theirs = mean_over(runs, measure);
    if (!theirs || *theirs <= (best ? best->second : ours + kNoGap)) continue;
    best = {rival, *theirs};
  }
  return best;
}

void add_gaps(const PipelineModel& model, const ByPolicy& groups, std::string_view policy,
              std::vector<Gap>& gaps) {
  const auto found = groups.find(policy);
  if (found == groups.end()) return;
  for (const auto& [name, measure] : kMeasures) {
    const auto ours = mean_over(found->second, measure);
    if (!ours) continue;
    const auto ahead = ahead_of(groups, policy, *ours, measure);
    if (!ahead) continue;
    const GapRuns sides{found->second, groups.at(ahead->first)};
    const bool late = name == "ratio_after_30";
    gaps.push_back({.pipeline = model.name,
                    .measure = std::string(name),
                    .rival = ahead->first,
                    .ours = *ours,
                    .theirs = ahead->second,
                    .cause = late ? late_cause(model, sides) : overall_cause(model, sides)});
  }
}

}  // namespace

std::vector<Gap> gaps_of(std::span<const ComparedRun> runs, std::span<const PipelineModel> models,
                         std::string_view policy) {
  std::map<std::string, ByPolicy> groups;
  for (const ComparedRun& run : runs) groups[run.pipeline][run.policy].push_back(&run);
  std::vector<Gap> gaps;
  for (const PipelineModel& model : models) add_gaps(model, groups[model.name], policy, gaps);
  std::ranges::stable_sort(gaps, [](const Gap& a, const Gap& b) { return a.by() > b.by(); });
  return gaps;
}

}  // namespace forebay::tuner
