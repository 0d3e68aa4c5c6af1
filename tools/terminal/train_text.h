#pragma once

#include "engine/job/job_spec.h"
#include "engine/train/train_report.h"

namespace forebay {

/// Prints the report of a training run of `job` to stdout for the user.
void print_report(const TrainReport& report, const JobSpec& job);

/// Prints the same as one JSON object.
void print_report_as_json(const TrainReport& report);

}  // namespace forebay
