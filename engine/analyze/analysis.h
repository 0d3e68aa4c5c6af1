#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/analyze/limiting_part.h"
#include "engine/analyze/parts.h"
#include "engine/analyze/what_if.h"
#include "engine/job/job_spec.h"
#include "engine/run/run_events.h"

namespace forebay {

/// Where a job's time goes, and what changes would bring. A value.
struct Analysis {
  double seconds = 0;  ///< That were measured.
  std::uint64_t rows = 0;
  double rows_per_second = 0;
  std::vector<Piece> pieces;
  std::vector<WhatIf> what_ifs;
  LimitingPart limit;
  std::vector<std::string> advice;
};

struct AnalysisOptions {
  std::chrono::nanoseconds length{0};  ///< Of all runs together, without their starts.
  const RunEvents& events;
  std::function<void(const std::string&)> progress;
  std::string program = {};  ///< Path of `forebay`, which trials start as workers; "": they do not.
};

/// Runs the job, predicts, tries out. kUnavailable "stopped" after a stop request.
Result<Analysis> analyze(const JobSpec& job, const AnalysisOptions& options);

}  // namespace forebay
