#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tuner/compare/machine.h"
#include "tuner/compare/trace.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// A decision is taken every so many seconds, in every modelled pipeline.
inline constexpr double kPeriodSeconds = 2;

/// How a policy is let at a machine.
struct DriveOptions {
  std::uint64_t decisions = 60;  ///< The run ends with the last of them.
  /// Through the guard and its steps ten times a second; false: proposals are applied as they are.
  bool guarded = true;
  std::unique_ptr<Policy> fallback = {};  ///< Who decides when a guarded policy fails.
  std::function<bool()> stopped = {};     ///< Asked before each decision; empty: never.
};

/// What came of it.
struct DriveRecord {
  Trace trace;                      ///< Without oracle and events.
  double seconds_per_decision = 0;  ///< CPU time of the policy, mean.
  std::uint64_t faults = 0;         ///< Decisions in which the policy was not listened to.
  std::uint64_t guarded = 0;        ///< Decisions that the guard changed.
  bool stopped = false;             ///< Before its end.
};

/// Lets `policy` tune `machine` from its start.
DriveRecord drive(Machine& machine, std::unique_ptr<Policy> policy, DriveOptions options);

}  // namespace forebay::tuner
