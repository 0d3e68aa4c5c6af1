#pragma once

#include "engine/job/job_spec.h"
#include "engine/train/train_report.h"

namespace forebay {

/// Prints what a training run of `job` has to say at its end to stdout, for a person.
void print_report(const TrainReport& report, const JobSpec& job);

/// The same as one JSON object.
void print_report_as_json(const TrainReport& report);

}  // namespace forebay
