#include "engine/cluster/worker_job.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "actors/input/store/stores.h"
#include "actors/loader_state.h"
#include "core/base/whole_file.h"
#include "core/data/digest.h"
#include "core/wire/codec.h"
#include "engine/job/job_file.h"
#include "engine/outputs/job_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string fingerprint_text(const std::vector<SharedFile>& files) {
  std::string text;
  for (const SharedFile& file : files) {
    text.append(file.name).append(1, '\n').append(file.content).append(1, '\n');
  }
  return text;
}

Result<SharedFile> library_at(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  const auto content = read_whole(path, kMostBytes);
  if (!content) return fail(Code::kNotFound, path + ": the library cannot be read on this node");
  return SharedFile{.name = fs::path(path).filename().string(),
                    .bytes = content->size(),
                    .content = Digest::of(content->data(), content->size()).hex()};
}

/// Removes leading slashes.
std::string_view inner(std::string_view path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return path;
}

using Roots = std::vector<std::pair<std::string, std::string>>;

/// A path below the FROM of a data root.
struct BelowRoot {
  std::string to;
  std::string rest;  // without a slash at its start

  std::string path() const { return rest.empty() ? to : (fs::path(to) / rest).string(); }
};

std::optional<BelowRoot> below_root(const std::string& path, const Roots& data_roots) {
  for (const auto& [root, to] : data_roots) {
    std::string_view from = root;
    while (from.size() > 1 && from.ends_with('/')) from.remove_suffix(1);
    if (!path.starts_with(from)) continue;
    const std::string_view rest = std::string_view(path).substr(from.size());
    if (rest.empty() || from == "/" || rest.front() == '/') {
      return BelowRoot{.to = to, .rest = std::string(inner(rest))};
    }
  }
  return std::nullopt;
}

/// Finds a path of the job below a data root. A job's paths are relative to its file; FROM is a
/// path as the trainer sees it.
std::optional<BelowRoot> below_root_of(const std::string& path, const std::string& job_file,
                                       const WorkerSetup& place) {
  const FileSystems systems = all_file_systems({});
  auto below =
      below_root(systems.normal_path(path, fs::path(job_file).parent_path()), place.data_roots);
  return below ? below : below_root(path, place.data_roots);
}

std::string place_here(const std::string& path, const std::string& job_file,
                       const WorkerSetup& place) {
  const auto below = below_root_of(path, job_file, place);
  return below ? below->path() : path;
}

/// The same for a path or glob: no character of TO means more than itself.
std::string pattern_here(const std::string& path, const std::string& job_file,
                         const WorkerSetup& place) {
  const auto below = below_root_of(path, job_file, place);
  if (!below) return path;
  return below->rest.empty() ? below->to : all_file_systems({}).pattern(below->rest, below->to);
}

/// Functions in Python are found as this node has them, and run by its own interpreter.
void find_functions(JobSpec& job, const JobText& text, const WorkerSetup& place) {
  for (TransformSpec& transform : job.transforms) {
    if (transform.op != kPythonOp) continue;
    transform.params.erase("interpreter");
    ParamValue& path = transform.params["path"];
    if (!place.python_path.empty()) {
      path = place.python_path;
    } else if (auto* folders = std::get_if<std::vector<std::string>>(&path)) {
      for (std::string& folder : *folders) folder = place_here(folder, text.path, place);
    }
  }
}

Result<JobSpec> read_text(const JobText& text, const WorkerSetup& place) {
  auto job = parse_job(text.text, mapped(text.path, place.data_roots), text.sets,
                       {.cpus = place.cpus, .memory_bytes = place.memory_bytes});
  if (!job) return pass(job);
  for (std::string& path : job->dataset.paths) path = pattern_here(path, text.path, place);
  find_functions(*job, text, place);
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

/// Returns the libraries that a job's operators load, as they are on this node.
Result<std::vector<SharedFile>> libraries_of(const JobSpec& job) {
  std::vector<SharedFile> libraries;
  for (const TransformSpec& transform : job.transforms) {
    const auto library = transform.params.find("library");
    if (library == transform.params.end()) continue;
    const auto* path = std::get_if<std::string>(&library->second);
    if (path == nullptr) continue;
    auto file = library_at(*path);
    if (!file) return pass(file);
    libraries.push_back(std::move(*file));
  }
  return libraries;
}

/// Returns the files of a dataset as they are on this node.
std::vector<SharedFile> files_of(const Dataset& dataset) {
  std::vector<SharedFile> files;
  files.reserve(dataset.files().size());
  for (const DatasetFile& file : dataset.files()) {
    files.push_back({file.name, file.bytes, file.content.hex()});
  }
  return files;
}

/// Returns the name of the first file of `wanted` that is missing in `here` or differs; "" if all
/// are equal.
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

}  // namespace

Result<JobText> job_text_of(const JobSpec& job, const JobRun& run) {
  auto libraries = libraries_of(job);
  if (!libraries) return pass(libraries);
  JobText text;
  text.path = fs::absolute(job.path).lexically_normal().string();
  text.text = job.source.text;
  text.sets = job.source.sets;
  text.state = to_json(run.state({}));
  text.files = files_of(run.dataset());
  text.libraries = std::move(*libraries);
  return text;
}

std::string encode_job_text(const JobText& text) {
  WireBuffer buffer;
  encode_value(text, buffer);
  const auto bytes = buffer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<JobText> decode_job_text(const std::string& bytes) {
  return decode_value<JobText>("the job's description", std::as_bytes(std::span(bytes)));
}

std::string fingerprint_of(const JobText& text) {
  const std::string all =
      text.state + '\n' + fingerprint_text(text.files) + fingerprint_text(text.libraries);
  return Digest::of(all.data(), all.size()).hex();
}

std::string mapped(const std::string& path,
                   const std::vector<std::pair<std::string, std::string>>& data_roots) {
  const auto below = below_root(path, data_roots);
  return below ? below->path() : path;
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
  if (!run && run.error().code == Code::kNotFound) {
    return fail(Code::kNotFound, run.error().message +
                                     "; if it lies elsewhere on this node, give --data-root "
                                     "FROM=TO, with what the path begins with, before any *, ? or "
                                     "[, as FROM");
  }
  if (!run) return pass(run);
  made->run_ = std::move(*run);
  if (auto status = made->check(text); !status) return pass(status);
  return made;
}

}  // namespace forebay
