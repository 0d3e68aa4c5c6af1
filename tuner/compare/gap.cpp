#include "tuner/compare/gap.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>

#include "tuner/compare/summary.h"

namespace forebay::tuner {
namespace {

constexpr double kMemoryShort = 0.9;
constexpr double kMoreActors = 1.1;
constexpr double kFewerActors = 0.95;
constexpr double kNoisy = 0.3;

std::string number(double value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string percent(double share) { return number(100 * share, 0) + " %"; }

std::string describe_median(const Reached& numbers) {
  const auto median = median_of_reached(numbers);
  return median ? "from decision " + number(*median, 0) : "never";
}

double mean(const RunGroup& runs, const std::function<double(const ComparedRun&)>& value) {
  return mean_of(values_of(runs, value));
}

double actors_of(const RunGroup& runs) {
  return mean(runs, [](const ComparedRun& run) { return run.figures.actors; });
}

double guarded_of(const RunGroup& runs) {
  return mean(runs, [](const ComparedRun& run) {
    return static_cast<double>(run.record.guarded) / static_cast<double>(run.decisions);
  });
}

bool contended(const PipelineModel& model) {
  return std::ranges::any_of(
      model.stages, [](const StageModel& stage) { return stage.alpha > 0 || stage.beta > 0; });
}

double noise_of(const PipelineModel& model) {
  return std::ranges::max(model.stages, {}, &StageModel::noise).noise;
}

double spread_over_seeds(const RunGroup& runs) {
  const auto [least, most] = std::ranges::minmax(
      runs, {}, [](const ComparedRun* run) { return run->figures.ratio_overall; });
  return most->figures.ratio_overall - least->figures.ratio_overall;
}

/// Runs of a policy, and the runs of a rival that is ahead of it on the same pipeline; at least one
/// run each.
struct GapRuns {
  const RunGroup& ours;
  const RunGroup& theirs;
};

double overall_gap(const GapRuns& sides) {
  const auto overall = [](const ComparedRun& run) { return run.figures.ratio_overall; };
  return mean(sides.theirs, overall) - mean(sides.ours, overall);
}

/// How much more of the oracle's splits our runs lost than the rival's in one part of the time.
double lost_more(const GapRuns& sides, double Shortfall::*part) {
  const auto value = [part](const ComparedRun& run) { return run.shortfall.*part; };
  return mean(sides.ours, value) - mean(sides.theirs, value);
}

std::string describe_actors(const GapRuns& sides) {
  return number(actors_of(sides.ours), 1) + " actors, the other " +
         number(actors_of(sides.theirs), 1) + ", the oracle " +
         std::to_string(sides.ours.front()->figures.actors_fewest);
}

std::string describe_deaths(const RunGroup& runs) {
  const auto dead = std::ranges::count_if(runs, &ComparedRun::out_of_memory);
  if (dead == 0) return {};
  return "out of memory in " + std::to_string(dead) + " of " + std::to_string(runs.size()) +
         " runs";
}

std::string describe_event(const GapRuns& sides, double lost) {
  return "after an event: " + number(lost, 3) +
         " lost in the ten periods after each; at 95 % again " +
         describe_median(recoveries_of(sides.ours)) + ", the other " +
         describe_median(recoveries_of(sides.theirs));
}

/// The cause that the settled allocations and the pipeline show.
std::string steady_cause(const PipelineModel& model, const GapRuns& sides) {
  const double ours = actors_of(sides.ours);
  const double theirs = actors_of(sides.theirs);
  const double memory = mean(sides.ours, memory_share);
  const double guarded = guarded_of(sides.ours);
  if (memory >= kMemoryShort || guarded >= 0.25) {
    return "memory: up to " + percent(memory) + " of the limit in use, the guard changed " +
           percent(guarded) + " of the decisions; " + describe_actors(sides);
  }
  if (ours > kMoreActors * theirs && contended(model)) {
    return "contention: " + describe_actors(sides);
  }
  if (ours < kFewerActors * theirs) return "fewer actors: " + describe_actors(sides);
  if (noise_of(model) >= kNoisy) {
    return "noise: service times vary by up to " + percent(noise_of(model)) + "; " +
           describe_actors(sides);
  }
  if (spread_over_seeds(sides.ours) > overall_gap(sides)) {
    return "chance: its seeds differ by " + number(spread_over_seeds(sides.ours), 3);
  }
  return "where the actors are: " + describe_actors(sides);
}

/// Why a policy is behind from the first decision on: the part of the time in which it lost most
/// (out of memory, the start, after changes, in between), and for the last of these the result of
/// late_cause().
std::string overall_cause(const PipelineModel& model, const GapRuns& sides) {
  const double dead = lost_more(sides, &Shortfall::dead);
  const double start = lost_more(sides, &Shortfall::start);
  const double after = lost_more(sides, &Shortfall::after_events);
  const double steady = lost_more(sides, &Shortfall::steady);
  const double most = std::max({dead, start, after, steady});
  if (most == dead && dead > 0) return describe_deaths(sides.ours);
  if (most == start) {
    return "slow start: " + number(start, 3) + " lost in the first ten periods; at 95 % " +
           describe_median(starts_of(sides.ours)) + ", the other " +
           describe_median(starts_of(sides.theirs));
  }
  if (most == after) return describe_event(sides, after);
  return steady_cause(model, sides);
}

/// Why it is behind once it has settled: the first of these causes that its runs show: out of
/// memory, changes, memory, contention, too few actors, noise, chance.
std::string late_cause(const PipelineModel& model, const GapRuns& sides) {
  if (std::string words = describe_deaths(sides.ours); !words.empty()) return words;
  const double after = lost_more(sides, &Shortfall::after_events);
  if (after > 0 && after > lost_more(sides, &Shortfall::steady))
    return describe_event(sides, after);
  return steady_cause(model, sides);
}

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
