#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/result.h"
#include "engine/job/job_document.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// Default values for keys that the job file does not set.
struct JobDefaults {
  int cpus = 1;
  std::uint64_t memory_bytes = 0;
};

/// A job without a file: the content of a job file as values.
struct JobValues {
  using Table = std::map<std::string, ParamValue>;

  /// Values by dotted name: `order.batch_size`. `order.`, with any value: that table is there.
  Table values;
  std::vector<Table> transforms;  ///< The tables of `[[transform]]`, in order.
  std::string folder = ".";       ///< Paths in the job are relative to it.
};

/// Reads the job file `path`, applies the `--set` assignments in order, checks every key and fills
/// in defaults. kNotFound or kInvalid names the file and the line or key, and what is wanted.
/// `transforms` are further operators, behind those of the file.
Result<JobSpec> load_job(const std::string& path, const std::vector<std::string>& sets,
                         const JobDefaults& defaults,
                         const std::vector<JobValues::Table>& transforms = {});

/// Does the same from the job file's text.
Result<JobSpec> parse_job(std::string text, const std::string& path,
                          const std::vector<std::string>& sets, const JobDefaults& defaults);

/// Does the same from a document. `path` is the job file as the user named it; paths in it are
/// relative to its folder.
Result<JobSpec> read_job(const JobDocument& document, const std::string& path,
                         const JobDefaults& defaults);

/// Returns a value as a job file writes it: `[["load", "decode"]]`.
std::string to_toml(const ParamValue& value);

/// Returns the job as the text of a job file, which workers read.
std::string to_toml(const JobValues& job);

/// Works like parse_job() of to_toml(), but messages name the key without a file.
Result<JobSpec> read_values(const JobValues& job, const std::vector<std::string>& sets,
                            const JobDefaults& defaults);

}  // namespace forebay
