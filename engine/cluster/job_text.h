#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"

namespace forebay {

/// A file that has to be the same on every node.
struct SharedFile {
  std::string name;         ///< Of a dataset's file: relative to what all share; else its path.
  std::uint64_t bytes = 0;  ///< Decompressed.
  std::string content;      ///< Digest of that.
  static auto fields(auto& self) { return std::tie(self.name, self.bytes, self.content); }
  friend bool operator==(const SharedFile&, const SharedFile&) = default;
};

/// What a worker needs to open a trainer's job: what is in JobShare::text. A value.
struct JobText {
  std::string path;               ///< The job file, absolute, where the trainer sees it.
  std::string text;               ///< Its content,
  std::vector<std::string> sets;  ///< and what overrides it.
  std::string state;              ///< The loader's state at the start: what the order depends on.
  std::vector<SharedFile> files;
  std::vector<SharedFile> libraries;  ///< Of user functions.
  static auto fields(auto& self) {
    return std::tie(self.path, self.text, self.sets, self.state, self.files, self.libraries);
  }
};

/// Of a job whose dataset is open. kInvalid when a library cannot be read.
Result<JobText> job_text_of(const JobSpec& job, const JobRun& run);

std::string encode_job_text(const JobText& text);
/// kCorrupt for anything that encode_job_text did not write.
Result<JobText> decode_job_text(const std::string& bytes);

/// A name for what must be equal on all nodes of a job.
std::string fingerprint_of(const JobText& text);

/// The files of a dataset, as they are on this node.
std::vector<SharedFile> files_of(const Dataset& dataset);

/// The libraries that a job's operators load, as they are on this node.
Result<std::vector<SharedFile>> libraries_of(const JobSpec& job);

}  // namespace forebay
