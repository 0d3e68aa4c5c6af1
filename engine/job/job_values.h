#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/result.h"
#include "engine/job/job_file.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// A job without a file: the content of a job file as values.
struct JobValues {
  using Table = std::map<std::string, ParamValue>;

  Table values;                   ///< Values by dotted name: `order.batch_size`.
  std::vector<Table> transforms;  ///< The tables of `[[transform]]`, in order.
  std::string folder = ".";       ///< Paths in the job are relative to it.
};

/// Returns the job as the text of a job file, which workers read.
std::string to_toml(const JobValues& job);

/// Works like parse_job() of to_toml(), but messages name the key without a file.
Result<JobSpec> read_values(const JobValues& job, const std::vector<std::string>& sets,
                            const JobDefaults& defaults);

}  // namespace forebay
