#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/outputs/inputs.h"
#include "engine/run/job_run.h"

namespace forebay {

/// A file that must be identical on every node.
struct SharedFile {
  std::string name;  ///< A dataset's file: relative to the common root; any other file: its path.
  std::uint64_t bytes = 0;  ///< Decompressed size.
  std::string content;      ///< Digest of the decompressed bytes.
  static auto fields(auto& self) { return std::tie(self.name, self.bytes, self.content); }
  friend bool operator==(const SharedFile&, const SharedFile&) = default;
};

/// What a worker needs to open a trainer's job: the content of JobShare::text. A value.
struct JobText {
  std::string path;               ///< The job file's absolute path on the trainer.
  std::string text;               ///< The job file's content.
  std::vector<std::string> sets;  ///< `--set` overrides.
  std::string state;              ///< The loader's state at the start; the order depends on it.
  std::vector<SharedFile> files;
  std::vector<SharedFile> libraries;  ///< Libraries of user functions.
  static auto fields(auto& self) {
    return std::tie(self.path, self.text, self.sets, self.state, self.files, self.libraries);
  }
};

/// Describes a job whose dataset is open. kInvalid: a library cannot be read.
Result<JobText> job_text_of(const JobSpec& job, const JobRun& run);

std::string encode_job_text(const JobText& text);
/// kCorrupt: `bytes` are not the output of encode_job_text.
Result<JobText> decode_job_text(const std::string& bytes);

/// Returns a fingerprint of everything that must be equal on all nodes of a job.
std::string fingerprint_of(const JobText& text);

/// How a worker opens a job: where the job's files are on this node, and what the worker may use.
struct WorkerSetup {
  /// `--data-root FROM=TO`: a path that begins with FROM on the trainer begins with TO here. The
  /// first pair that matches is used.
  std::vector<std::pair<std::string, std::string>> data_roots = {};
  /// `--python-path`: where the modules of functions in Python are here; empty: where the job says.
  std::vector<std::string> python_path = {};
  std::string dir = {};   ///< `--dir`: for the index and for spilled data; "": in the job's folder.
  std::string name = {};  ///< The worker's name; its folder is named after it.
  int cpus = 1;
  std::uint64_t memory_bytes = 0;
  std::function<void(const std::string&)> announce = {};
  std::function<bool()> stopped = {};
};

/// A trainer's job, opened on a worker and verified: sizes and contents of all files, the order and
/// the operators equal the trainer's.
///
/// Owns the dataset and the operators. Refuses a worker folder whose files are the job's data, and
/// publishes the files it reads. Belongs to one thread until it is made.
class WorkerJob {
 public:
  /// Blocks while files without an index are read. kInvalid names what differs from the trainer's,
  /// kNotFound names what is missing.
  static Result<std::unique_ptr<WorkerJob>> open(const JobText& text, const WorkerSetup& place);
  /// Removes the worker's folder inside the job's folder if it is empty.
  ~WorkerJob();

  const JobSpec& job() const { return job_; }
  JobRun& run() { return *run_; }
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  explicit WorkerJob(JobSpec job) : job_(std::move(job)) {}
  Status check(const JobText& wanted);

  JobSpec job_;
  std::string folder_;  // inside the job's folder; "": the user gave a folder
  std::optional<PublishedInputs> inputs_;
  std::unique_ptr<JobRun> run_;
  std::string fingerprint_;
};

/// Returns `path` as this node sees it.
std::string mapped(const std::string& path,
                   const std::vector<std::pair<std::string, std::string>>& data_roots);

}  // namespace forebay
