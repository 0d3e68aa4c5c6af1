#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/compare/comparison.h"

namespace forebay::tuner {

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
std::optional<double> median_of_reached(const std::vector<std::optional<std::uint64_t>>& numbers);

/// A policy's figures over all runs of a comparison.
struct PolicySummary {
  std::string policy;
  std::uint64_t runs = 0;
  Distribution ratio_overall;
  Distribution ratio_after_30;  ///< Of runs that have one.
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
