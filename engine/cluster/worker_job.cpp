#include "engine/cluster/worker_job.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "actors/input/file_system.h"
#include "actors/loader_state.h"
#include "engine/job/job_document.h"
#include "engine/job/job_file.h"
#include "engine/outputs/job_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// Removes leading slashes.
std::string_view inner(std::string_view path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return path;
}

/// Returns where a path of the job lies on this node. A job's paths are relative to its file; FROM
/// is a path as the trainer sees it.
std::string place_here(const std::string& path, const std::string& job_file,
                       const WorkerSetup& place) {
  const std::string there = FileSystems().normal_path(path, fs::path(job_file).parent_path());
  const std::string here = mapped(there, place.data_roots);
  return here != there ? here : mapped(path, place.data_roots);
}

Result<JobSpec> read_text(const JobText& text, const WorkerSetup& place) {
  auto job = parse_job(text.text, mapped(text.path, place.data_roots), text.sets,
                       {.cpus = place.cpus, .memory_bytes = place.memory_bytes});
  if (!job) return pass(job);
  for (std::string& path : job->dataset.paths) path = place_here(path, text.path, place);
  job->pipeline.cpus = place.cpus;
  job->pipeline.memory_bytes = place.memory_bytes;
  job->pipeline.actors.assign(job->pipeline.actors.size(), 1);
  return job;
}

/// Returns the worker's own folder; the job's folder belongs to another process and may be
/// read-only.
Result<std::string> folder_of(const JobSpec& job, const WorkerSetup& place) {
  const fs::path folder =
      place.dir.empty() ? fs::path(job.run.dir) / "workers" / place.name : fs::path(place.dir);
  if (place.dir.empty() && !fs::is_directory(job.run.dir)) {
    return fail(Code::kNotFound, job.run.dir +
                                     ": the job's folder is not on this node; name one for the "
                                     "worker's index with --dir, and where the data lies with "
                                     "--data-root FROM=TO");
  }
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) {
    return fail(Code::kUnavailable,
                folder.string() + ": cannot be made (" + problem.message() + "); use --dir");
  }
  return folder.string();
}

}  // namespace

std::string mapped(const std::string& path,
                   const std::vector<std::pair<std::string, std::string>>& data_roots) {
  for (const auto& [root, to] : data_roots) {
    std::string_view from = root;
    while (from.size() > 1 && from.ends_with('/')) from.remove_suffix(1);
    if (!path.starts_with(from)) continue;
    if (path.size() == from.size()) return to;
    const std::string_view rest = std::string_view(path).substr(from.size());
    if (from == "/" || rest.front() == '/') return (fs::path(to) / inner(rest)).string();
  }
  return path;
}

std::string first_difference(const std::vector<SharedFile>& wanted,
                             const std::vector<SharedFile>& here) {
  for (std::size_t i = 0; i < std::max(wanted.size(), here.size()); ++i) {
    if (i >= here.size()) return wanted[i].name + " is missing";
    if (i >= wanted.size()) return here[i].name + " is not part of the job";
    if (wanted[i].name != here[i].name) return wanted[i].name + " is missing";
    if (wanted[i].bytes != here[i].bytes) {
      return wanted[i].name + " has " + std::to_string(here[i].bytes) + " bytes instead of " +
             std::to_string(wanted[i].bytes);
    }
    if (wanted[i].content != here[i].content) return wanted[i].name + " has other content";
  }
  return {};
}

WorkerJob::~WorkerJob() {
  run_.reset();
  if (folder_.empty()) return;
  std::error_code in_use;  // An index that this worker made stays for the next worker.
  for (const char* part : {"/index", "/spill", ""}) fs::remove(folder_ + part, in_use);
}

Status WorkerJob::check(const JobText& wanted) {
  if (const auto what = first_difference(wanted.files, files_of(run_->dataset())); !what.empty()) {
    return fail(Code::kInvalid, "the data differs on this node: " + what);
  }
  auto libraries = libraries_of(job_);
  if (!libraries) return pass(libraries);
  if (const auto what = first_difference(wanted.libraries, *libraries); !what.empty()) {
    return fail(Code::kInvalid, "a user function's library differs on this node: " + what);
  }
  auto state = parse_loader_state(wanted.state, "the job's description");
  if (!state) return pass(state);
  const LoaderState now = run_->state({});
  if (auto same = check_same_job(*state, now); !same) return same;
  JobText found = wanted;
  found.state = to_json(now);
  fingerprint_ = fingerprint_of(found);
  return {};
}

Result<std::unique_ptr<WorkerJob>> WorkerJob::open(const JobText& text, const WorkerSetup& place) {
  auto job = read_text(text, place);
  if (!job) return pass(job);
  auto folder = folder_of(*job, place);
  if (!folder) return pass(folder);
  const std::string shared_index = job->run.dir + "/index";
  job->run.dir = *folder;
  auto made = std::unique_ptr<WorkerJob>(new WorkerJob(std::move(*job)));  // NOLINT: private.
  if (place.dir.empty()) made->folder_ = *folder;
  auto guarded =
      guard_inputs(inputs_of(made->job_), outputs_of(made->job_, "worker"), place.announce);
  if (!guarded) return pass(guarded);
  made->inputs_ = std::move(*guarded);
  auto run = JobRun::open(made->job_, JobRun::Rows::kTraining,
                          {.announce = place.announce,
                           .indexing = {},
                           .stopped = place.stopped,
                           .index_from = shared_index});
  if (!run) return pass(run);
  made->run_ = std::move(*run);
  if (auto status = made->check(text); !status) return pass(status);
  return made;
}

}  // namespace forebay
