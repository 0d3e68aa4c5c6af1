#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
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

/// Returns the files of a dataset as they are on this node.
std::vector<SharedFile> files_of(const Dataset& dataset);

/// Returns the libraries that a job's operators load, as they are on this node.
Result<std::vector<SharedFile>> libraries_of(const JobSpec& job);

}  // namespace forebay
