#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tuner/compare/machine.h"
#include "tuner/compare/trace.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// The seconds between two decisions, in every modelled pipeline.
inline constexpr double kPeriodSeconds = 2;

/// How a policy drives a machine.
struct DriveOptions {
  std::uint64_t decisions = 60;  ///< The run ends with the last decision.
  /// Whether the guard checks proposals and steps ten times a second; false: proposals are applied
  /// as they are.
  bool guarded = true;
  std::unique_ptr<Policy> fallback = {};  ///< Decides when a guarded policy fails.
  std::function<bool()> stopped = {};     ///< Called before each decision; empty: never stopped.
};

/// The result of a drive.
struct DriveRecord {
  Trace trace;                      ///< Without oracle and events.
  double seconds_per_decision = 0;  ///< CPU time of the policy, mean.
  std::uint64_t faults = 0;         ///< Decisions in which the policy failed and was overruled.
  std::uint64_t guarded = 0;        ///< Decisions that the guard changed.
  bool stopped = false;             ///< Whether the run was stopped before its end.
};

/// Lets `policy` tune `machine` from the machine's start.
DriveRecord drive(Machine& machine, std::unique_ptr<Policy> policy, DriveOptions options);

}  // namespace forebay::tuner
