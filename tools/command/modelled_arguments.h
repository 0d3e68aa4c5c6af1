#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "engine/modelled/modelled_figures.h"
#include "tools/command/command.h"

namespace forebay {

/// Arguments common to all commands that run a modelled pipeline.
struct ModelledRun {
  tuner::PipelineModel model;
  tuner::Allocation allocation;
  double seconds = 0;
  std::uint64_t seed = 1;
};

/// Reads the file and --allocation, --prefetch, --seconds and --seed. `usual_seconds` returns the
/// length of a run without --seconds.
Result<ModelledRun> read_modelled_run(const Invocation& invocation,
                                      double (*usual_seconds)(const tuner::PipelineModel&));

/// Returns the option's whole number from `low` to `high`, or `otherwise` if it was not given.
Result<std::uint64_t> count_of(const Invocation& invocation, const std::string& option,
                               std::uint64_t low, std::uint64_t high, std::uint64_t otherwise);

/// Prints the results for the user on stdout.
void print_figures(const ModelledFigures& figures, const tuner::PipelineModel& model);

}  // namespace forebay
