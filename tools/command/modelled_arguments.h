#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "engine/modelled/modelled_figures.h"
#include "tools/command/command.h"

namespace forebay {

/// What every command that runs a modelled pipeline is told.
struct ModelledRun {
  tuner::PipelineModel model;
  tuner::Allocation allocation;
  double seconds = 0;
  std::uint64_t seed = 1;
};

/// Reads the file and --allocation, --prefetch, --seconds and --seed. `usual_seconds` says how long
/// a run is that nobody gave a length.
Result<ModelledRun> read_modelled_run(const Invocation& invocation,
                                      double (*usual_seconds)(const tuner::PipelineModel&));

/// The option's whole number from `low` to `high`, `otherwise` where it was not given.
Result<std::uint64_t> count_of(const Invocation& invocation, const std::string& option,
                               std::uint64_t low, std::uint64_t high, std::uint64_t otherwise);

/// What came of it, for a person, on stdout.
void print_figures(const ModelledFigures& figures, const tuner::PipelineModel& model);

}  // namespace forebay
