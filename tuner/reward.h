#pragma once

#include <cstdint>
#include <string_view>

#include "tuner/allocation.h"
#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// What a tuner maximises.
enum class RewardMode : std::uint8_t {
  kUsable,  ///< Rows the trainer can use, less a little for actors and memory. The default.
  kPaper,   ///< InTune's: throughput × (1 − memory used / total) (Nagrecha et al., RecSys 2023).
};

/// Parses the name in a job file or a decision log: "paper", or "usable".
inline RewardMode reward_mode(std::string_view name) {
  return name == "paper" ? RewardMode::kPaper : RewardMode::kUsable;
}

/// The cost of an allocation as a share of its rate, 0 to 1: reward = rate × (1 − price).
///
/// The rate is that of the trainer, so a pipeline faster than its trainer earns nothing more. The
/// default's prices break ties: as many actors as CPUs cost one per cent.
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
