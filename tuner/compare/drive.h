#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "tuner/policy.h"
#include "tuner/sim/simulator.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// The result of the best fixed allocation from a moment on.
struct OracleStretch {
  double from_seconds = 0;
  double splits_per_second = 0;    ///< At its begin.
  std::uint32_t actors = 0;        ///< The fewest actors that reach it, over all stages.
  std::uint64_t memory_bytes = 0;  ///< The machine's limit in that stretch.
  double growth = 0;               ///< Splits/s more each second: on a ramp.
};

/// One period of a run: from one decision to the next.
struct Period {
  std::uint64_t decision = 0;  ///< At its begin; 0: from the start to the first decision.
  double begin_seconds = 0;
  double end_seconds = 0;
  std::uint64_t trained = 0;          ///< Splits the trainer finished in it.
  std::vector<std::uint32_t> actors;  ///< Requested at its end, by stage.
  std::uint32_t prefetch = 0;
  double cpus_busy = 0;            ///< Mean.
  std::uint64_t memory_bytes = 0;  ///< In use at its end.
  std::uint64_t memory_peak = 0;   ///< Most in use.
};

/// The record of a run. Periods follow one another without a gap, period 0 first; the last period
/// ends with the last decision, after which nothing is measured. After running out of memory no
/// split is trained.
struct Trace {
  std::vector<Period> periods;
  std::vector<OracleStretch> oracle;  ///< By time, the first from 0.
  std::vector<double> events;         ///< Moments at which something changed, each once, by time.
  bool out_of_memory = false;
  double out_of_memory_seconds = 0;  ///< When; valid if out_of_memory.
};

/// The oracle's stretch at a moment; a stretch that begins at that moment counts.
const OracleStretch& oracle_at(const Trace& trace, double seconds);

/// Splits that the oracle trains between two moments, at the rate of each stretch.
double oracle_splits(const Trace& trace, double from_seconds, double to_seconds);

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

/// A part of a machine that has a policy of its own: a node. All parts decide at the same moments.
struct DrivenPart {
  TunedPipeline& pipeline;
  std::unique_ptr<Policy> policy;
  std::unique_ptr<Policy> fallback = {};
  std::function<bool()> present = {};  ///< While false nobody decides for it; empty: always true.
};

/// Lets each part's policy tune it, from the machine's start; `options.fallback` is not used.
DriveRecord drive(ModelledPipeline& machine, std::vector<DrivenPart> parts, DriveOptions options);

/// Lets `policy` tune `machine` from the machine's start.
DriveRecord drive(ModelledPipeline& machine, std::unique_ptr<Policy> policy, DriveOptions options);

}  // namespace forebay::tuner
