#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "engine/cluster/job_text.h"
#include "engine/job/job_spec.h"
#include "engine/outputs/running_inputs.h"
#include "engine/run/job_run.h"

namespace forebay {

/// How a worker sees a job: where its files lie here, and what it may use.
struct WorkerSetup {
  /// `--data-root FROM=TO`: a path that begins with FROM at the trainer begins with TO here. The
  /// first that fits counts.
  std::vector<std::pair<std::string, std::string>> data_roots = {};
  std::string dir =
      {};  ///< `--dir`: for the index and what is written out; "": in the job's folder.
  std::string name = {};  ///< Of the worker; a folder is called so.
  int cpus = 1;
  std::uint64_t memory_bytes = 0;
  std::function<void(const std::string&)> announce = {};
  std::function<bool()> stopped = {};
};

/// A trainer's job, opened on a worker and found to be the same: every file's size and content, the
/// order, the operators.
///
/// Owns the dataset and the operators. Refuses a folder of its own whose files are the job's data,
/// and publishes what it reads. Belongs to one thread until it is made.
class WorkerJob {
 public:
  /// Blocks while files that no index describes are read. What differs is refused with kInvalid,
  /// what is missing with kNotFound, both by name.
  static Result<std::unique_ptr<WorkerJob>> open(const JobText& text, const WorkerSetup& place);
  /// Removes the worker's folder in the job's own where nothing was put into it.
  ~WorkerJob();
  WorkerJob(const WorkerJob&) = delete;
  WorkerJob& operator=(const WorkerJob&) = delete;

  const JobSpec& job() const { return job_; }
  JobRun& run() { return *run_; }
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  explicit WorkerJob(JobSpec job) : job_(std::move(job)) {}
  Status check(const JobText& wanted);

  JobSpec job_;
  std::string folder_;  // in the job's own; "": the user's
  std::optional<PublishedInputs> inputs_;
  std::unique_ptr<JobRun> run_;
  std::string fingerprint_;
};

/// `path` as this node sees it.
std::string mapped(const std::string& path,
                   const std::vector<std::pair<std::string, std::string>>& data_roots);

/// Names the first file of `wanted` that `here` lacks or has otherwise; empty: none.
std::string first_difference(const std::vector<SharedFile>& wanted,
                             const std::vector<SharedFile>& here);

}  // namespace forebay
