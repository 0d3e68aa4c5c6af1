#include "tuner/compare/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace forebay::tuner {
namespace {

/// A quantile of sorted values; at least one value is required.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::vector<double> after_30(const RunGroup& runs) {
  std::vector<double> values;
  for (const ComparedRun* run : runs) {
    if (run->figures.ratio_after_30) values.push_back(*run->figures.ratio_after_30);
  }
  return values;
}

double actors_over_fewest(const ComparedRun& run) {
  return run.figures.actors / std::max(1.0, static_cast<double>(run.figures.actors_fewest));
}

void count_decisions(const RunGroup& runs, PolicySummary& summary) {
  const Reached starts = starts_of(runs);
  const Reached recoveries = recoveries_of(runs);
  const auto never = [](const Reached& numbers) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(numbers, [](const auto& number) { return !number; }));
  };
  summary.never_95 = never(starts);
  summary.recoveries = recoveries.size();
  summary.never_recovered = never(recoveries);
  summary.decisions_to_95 = median_of_reached(starts);
  summary.recovery_decisions = median_of_reached(recoveries);
}

PolicySummary summary_of(const std::string& policy, const RunGroup& runs) {
  PolicySummary summary;
  summary.policy = policy;
  summary.runs = runs.size();
  summary.ratio_overall = distribution_of(
      values_of(runs, [](const ComparedRun& run) { return run.figures.ratio_overall; }));
  if (auto late = after_30(runs); !late.empty()) {
    summary.ratio_after_30 = distribution_of(std::move(late));
  }
  summary.ratio_final = distribution_of(
      values_of(runs, [](const ComparedRun& run) { return run.figures.ratio_final; }));
  count_decisions(runs, summary);
  summary.actors_over_fewest = distribution_of(values_of(runs, actors_over_fewest)).median;
  const std::vector<double> shares = values_of(runs, memory_share);
  summary.memory_share = mean_of(shares);
  summary.memory_share_most = *std::ranges::max_element(shares);
  summary.cpus_used =
      mean_of(values_of(runs, [](const ComparedRun& run) { return run.figures.cpus_used; }));
  summary.seconds_per_decision = mean_of(
      values_of(runs, [](const ComparedRun& run) { return run.record.seconds_per_decision; }));
  for (const ComparedRun* run : runs) {
    summary.out_of_memory += run->out_of_memory ? 1 : 0;
    summary.faults += run->record.faults;
  }
  return summary;
}

}  // namespace

std::vector<double> values_of(const RunGroup& runs,
                              const std::function<double(const ComparedRun&)>& value) {
  std::vector<double> values;
  for (const ComparedRun* run : runs) values.push_back(value(*run));
  return values;
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double memory_share(const ComparedRun& run) {
  return static_cast<double>(run.figures.memory_peak) / static_cast<double>(run.memory_limit);
}

Reached starts_of(const RunGroup& runs) {
  Reached numbers;
  for (const ComparedRun* run : runs) numbers.push_back(run->figures.decisions_to_95);
  return numbers;
}

Reached recoveries_of(const RunGroup& runs) {
  Reached numbers;
  for (const ComparedRun* run : runs) {
    for (const Recovery& recovery : run->figures.recoveries) {
      numbers.push_back(recovery.decisions_to_95);
    }
  }
  return numbers;
}

Distribution distribution_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {mean_of(values), quantile(values, 0.5), quantile(values, 0.05)};
}

std::optional<double> median_of_reached(const Reached& numbers) {
  if (numbers.empty()) return std::nullopt;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> sorted;
  for (const auto& number : numbers) {
    sorted.push_back(number ? static_cast<double>(*number) : kNever);
  }
  std::ranges::sort(sorted);
  const double median = sorted[(sorted.size() - 1) / 2];
  return median == kNever ? std::nullopt : std::optional(median);
}

std::vector<PolicySummary> summarize(std::span<const ComparedRun> runs) {
  std::vector<std::string> order;
  for (const ComparedRun& run : runs) {
    if (std::ranges::find(order, run.policy) == order.end()) order.push_back(run.policy);
  }
  std::vector<PolicySummary> summaries;
  for (const std::string& policy : order) {
    RunGroup selection;
    for (const ComparedRun& run : runs) {
      if (run.policy == policy) selection.push_back(&run);
    }
    summaries.push_back(summary_of(policy, selection));
  }
  return summaries;
}

}  // namespace forebay::tuner
