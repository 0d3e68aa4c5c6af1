#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/pipeline.h"

namespace forebay {

/// One stage's activity, as shares of its actors' lifetime.
struct StageView {
  std::string name;
  std::uint64_t actors = 0;
  double busy_share = 0;
  double wait_input_share = 0;
  double wait_output_share = 0;
  double ready_share = 0;  ///< Of the busy time, ready to run while other threads had the CPUs.
  /// Time on a CPU or waiting for one, over busy time: below 1, the stage waited for a disk.
  double cpu_share = 0;
  std::uint64_t queued = 0;  ///< Splits in its mailbox.
  std::uint64_t splits = 0;
  std::uint64_t bytes = 0;
};

/// Returns the activity of each stage between two samples of a pipeline; `before` without stages
/// means its start.
std::vector<StageView> stage_views(const PipelineStats& before, const PipelineStats& now);

}  // namespace forebay
