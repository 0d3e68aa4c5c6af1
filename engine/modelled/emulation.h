#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "engine/modelled/modelled_figures.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/oracle_line.h"

namespace forebay {

/// Progress of an emulated run.
struct EmulationView {
  double seconds = 0;            ///< Since its start.
  double splits_per_second = 0;  ///< Over the last few seconds.
  double cpus_busy = 0;
  std::uint64_t memory_bytes = 0;
  tuner::Limits limits;
  tuner::Allocation allocation;
  std::uint64_t decisions = 0;
  std::string reason;  ///< Reason of the last decision.
};

/// A modelled pipeline to run in real time.
struct EmulationSpec {
  const tuner::PipelineModel& model;
  tuner::Allocation allocation;  ///< At the start.
  double seconds = 20;
  std::uint64_t seed = 1;
  std::string policy;  ///< The policy that tunes it, through the guard; empty: no tuning.
  tuner::FindBest find_best = {};  ///< Of worlds, for the oracle's rate; they have one node here.
  std::chrono::nanoseconds period = std::chrono::seconds(2);
};

struct EmulationOutcome {
  ModelledFigures figures;
  std::uint64_t decisions = 0;
  std::uint64_t guarded = 0;   ///< Decisions that the guard changed.
  double tuner_cpu_share = 0;  ///< Of one core, over the run.
  /// Of `central`: nodes beside the trainer's that got splits, mean of the decisions that count.
  std::optional<double> fed_workers = {};
  /// How late threads woke up. Unless it is_made_up_for(), the figures measure this machine, not
  /// the model.
  tuner::Lateness lateness;
};

struct EmulationHooks {
  std::function<bool()> stopped;  ///< Called ten times a second; true ends the run.
  std::function<void(const EmulationView&)> show;
};

/// Runs the model. Figures are of the second half of the run, or of the part of it that ran if the
/// run ended sooner; with a policy, the half begins at the decision nearest to its start. kInvalid:
/// no such policy; kUnavailable: this machine cannot start so many threads.
Result<EmulationOutcome> emulate(const EmulationSpec& spec, const EmulationHooks& hooks);

}  // namespace forebay
