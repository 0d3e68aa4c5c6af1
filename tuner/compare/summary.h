#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/compare/comparison.h"

namespace forebay::tuner {

/// Runs of one policy.
using RunGroup = std::vector<const ComparedRun*>;

/// A value of each run.
std::vector<double> values_of(const RunGroup& runs,
                              const std::function<double(const ComparedRun&)>& value);
/// The mean of some values; 0 for no values.
double mean_of(const std::vector<double>& values);

/// The peak memory of a run as a share of its limit.
double memory_share(const ComparedRun& run);

/// Numbers of decisions until 95 % of the oracle was reached; empty where it never was.
using Reached = std::vector<std::optional<std::uint64_t>>;
Reached starts_of(const RunGroup& runs);
/// The same from each change on.
Reached recoveries_of(const RunGroup& runs);

/// Statistics of some values; all zero if there are no values.
struct Distribution {
  double mean = 0;
  double median = 0;
  double p5 = 0;  ///< The 5th percentile, interpolated linearly between two values.
};

Distribution distribution_of(std::vector<double> values);

/// The median of numbers some of which are absent (never reached); an absent number counts as
/// larger than all others. Absent if the median is, or if there are no numbers; for an even number
/// of values the lower one.
std::optional<double> median_of_reached(const Reached& numbers);

/// A policy's figures over all runs of a comparison.
struct PolicySummary {
  std::string policy;
  std::uint64_t runs = 0;
  Distribution ratio_overall;
  std::optional<Distribution> ratio_after_30;  ///< Of runs that have one.
  Distribution ratio_final;
  std::optional<double> decisions_to_95;     ///< Median.
  std::uint64_t never_95 = 0;                ///< Runs that never reached 95 %.
  std::uint64_t recoveries = 0;              ///< Changes that runs met.
  std::uint64_t never_recovered = 0;         ///< Changes that runs never recovered from.
  std::optional<double> recovery_decisions;  ///< Median.
  std::uint64_t out_of_memory = 0;           ///< Runs.
  double actors_over_fewest = 0;             ///< Median over runs of actors / the oracle's.
  double cpus_used = 0;                      ///< Mean.
  double memory_share = 0;                   ///< Mean of peak memory / limit.
  double memory_share_most = 0;              ///< Maximum of peak memory / limit.
  double seconds_per_decision = 0;           ///< Mean.
  std::uint64_t faults = 0;  ///< Decisions in which the policy failed and was overruled.
};

/// One entry per policy, in the order of their first runs.
std::vector<PolicySummary> summarize(std::span<const ComparedRun> runs);

}  // namespace forebay::tuner
