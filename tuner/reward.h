#pragma once

#include <cstdint>
#include <string_view>

#include "tuner/allocation.h"
#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// What a tuner is paid for.
enum class RewardMode : std::uint8_t {
  kUsable,  ///< Rows the trainer can use, less a little for actors and memory. The default.
  kPaper,   ///< InTune's: throughput × (1 − memory used / total) (Nagrecha et al., RecSys 2023).
};

/// By the name a job file and a decision log give it: "paper", or "usable".
inline RewardMode reward_mode(std::string_view name) {
  return name == "paper" ? RewardMode::kPaper : RewardMode::kUsable;
}

/// The share of a rate that an allocation costs, 0 to 1: reward = rate × (1 − price).
///
/// A rate is what the trainer took, so a pipeline faster than its trainer earns nothing by it. The
/// default's prices are what breaks ties: as many actors as CPUs cost one per cent.
inline double price(RewardMode mode, const PipelineDescription& description, const Limits& limits,
                    const Allocation& allocation) {
  constexpr double kActors = 0.01;   // as many actors as CPUs
  constexpr double kMemory = 0.005;  // all of memory
  const double memory = static_cast<double>(worst_case_bytes(description, allocation)) /
                        static_cast<double>(limits.memory_bytes);
  if (mode == RewardMode::kPaper) return memory;
  const double cpus = limits.cpus + static_cast<double>(description.stages.size());
  return kActors * allocation.total_actors() / cpus + kMemory * memory;
}

}  // namespace forebay::tuner
