#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "engine/modelled/modelled_figures.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// How an emulated run is getting on.
struct EmulationView {
  double seconds = 0;            ///< Since its start.
  double splits_per_second = 0;  ///< Of the last few seconds.
  double cpus_busy = 0;
  std::uint64_t memory_bytes = 0;
  tuner::Limits limits;
  tuner::Allocation allocation;
  std::uint64_t decisions = 0;
  std::string reason;  ///< Of the last decision.
};

/// A modelled pipeline to be run in real time.
struct EmulationSpec {
  const tuner::PipelineModel& model;
  tuner::Allocation allocation;  ///< At the start.
  double seconds = 20;
  std::uint64_t seed = 1;
  std::string policy;  ///< Who tunes it, through the guard; empty: nobody.
  std::chrono::nanoseconds period = std::chrono::seconds(2);
};

struct EmulationOutcome {
  ModelledFigures figures;
  std::uint64_t decisions = 0;
  std::uint64_t guarded = 0;          ///< Decisions that the guard changed.
  double tuner_cpu_share = 0;         ///< Of one core, over the run.
  double lateness_seconds = 0;        ///< How late threads woke, mean,
  double worst_lateness_seconds = 0;  ///< and at worst.
  bool kept_time = true;              ///< False: so late that the figures are this machine's.
};

struct EmulationHooks {
  std::function<bool()> stopped;  ///< Asked ten times a second; true ends the run.
  std::function<void(const EmulationView&)> show;
};

/// Runs it. Figures are of the second half, or of what there was of it when the run ended sooner;
/// with a policy the half begins with the decision next to it. kInvalid: no such policy;
/// kUnavailable: this machine has no room for so many threads.
Result<EmulationOutcome> emulate(const EmulationSpec& spec, const EmulationHooks& hooks);

}  // namespace forebay
