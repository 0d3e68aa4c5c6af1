#include "tools/launch/launch_spec.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/check.h"
#include "core/base/text/shell_word.h"
#include "core/data/digest.h"
#include "engine/job/text_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string absolute(const std::string& path) {
  if (path.empty()) return path;
  fs::path whole = fs::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.string();
}

// Returns a name that Slurm, Kubernetes and file systems accept: lower case, digits and dashes,
// below 40 letters.
std::string name_of(const std::string& job_file) {
  std::string stem = fs::path(job_file).stem().string();
  if (stem == "job") stem = fs::path(job_file).parent_path().filename().string();
  std::string plain;
  for (char c : stem.substr(0, 20)) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    plain += upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '-';
  }
  const std::string hex = Digest::of(job_file.data(), job_file.size()).hex();
  return "forebay-" + (plain.empty() ? "job" : plain) + "-" + hex.substr(0, 6);
}

std::string listening(const JobSpec& job, const LaunchOptions& options) {
  if (options.port == 0 && !job.cluster.listen.empty()) return job.cluster.listen;
  const std::string host = job.cluster.keys.empty() ? "127.0.0.1" : "0.0.0.0";
  return "tcp://" + host + ":" + std::to_string(options.port);
}

// Paths are also written into comments and directives, which end at the end of the line.
Status check_paths(const LaunchSpec& spec) {
  for (const std::string* path :
       {&spec.forebay, &spec.job_file, &spec.run_dir, &spec.out, &spec.keys, &spec.head}) {
    const bool one_line = std::none_of(path->begin(), path->end(), [](char c) {
      return static_cast<unsigned char>(c) < 32 || c == 127;
    });
    if (one_line) continue;
    return fail(Code::kInvalid, "launch: the path " + *path +
                                    " holds a line break or another control character; rename it");
  }
  return {};
}

// Returns ` --metrics HOST:0` if the job has `cluster.metrics`, else "": several workers may share
// a machine, so each takes a free port there and reports it.
std::string worker_metrics(const LaunchSpec& spec) {
  if (spec.metrics.empty()) return {};
  return " --metrics " + shell_word(spec.metrics.substr(0, spec.metrics.rfind(':')) + ":0");
}

}  // namespace

Blanks blanks_of_scripts(const LaunchSpec& spec) {
  std::string sets;
  for (const std::string& set : spec.options.sets) sets.append(" --set ").append(shell_word(set));
  return {{"NAME", spec.name},
          {"COMMAND", spec.options.command},
          {"TRAINS", spec.options.command == "train" ? "yes" : ""},
          {"WORKERS", std::to_string(spec.options.workers)},
          {"CPUS", std::to_string(spec.cpus)},
          {"MEMORY_BYTES", std::to_string(spec.memory_bytes)},
          {"OUT", shell_word(spec.out)},
          {"RUN_DIR", shell_word(spec.run_dir)},
          {"FOREBAY", shell_word(spec.forebay)},
          {"JOB", shell_word(spec.job_file)},
          {"LISTEN", shell_word(spec.listen)},
          {"SETS", sets},
          {"METRICS", worker_metrics(spec)}};
}

std::uint64_t mib_wanted(const LaunchSpec& spec) {
  return (spec.memory_bytes >> 20) + (spec.memory_bytes >> 24) + 64;
}

LaunchFile filled_file(std::string_view path, std::uint32_t mode, const Blanks& blanks) {
  const auto templates = launch_templates();
  const auto found = std::ranges::find(templates, path, &LaunchTemplate::name);
  FOREBAY_CHECK(found != templates.end());
  return {std::string(path.substr(path.rfind('/') + 1)), mode, fill(found->text, blanks)};
}

Result<LaunchSpec> launch_spec(const JobSpec& job, std::string job_text, std::string forebay,
                               LaunchOptions options) {
  LaunchSpec spec;
  spec.job_file = absolute(job.path);
  spec.job_text = std::move(job_text);
  spec.run_dir = absolute(job.run.dir);
  spec.out = absolute(options.out.empty() ? job.run.dir + "/launch" : options.out);
  spec.keys = absolute(job.cluster.keys);
  spec.name = name_of(spec.job_file);
  spec.forebay = std::move(forebay);
  spec.listen = listening(job, options);
  spec.metrics = job.cluster.metrics;
  spec.head = names_a_file(job.cluster.head) ? absolute(job.cluster.head) : job.cluster.head;
  spec.cpus = job.pipeline.cpus;
  spec.memory_bytes = job.pipeline.memory_bytes;
  spec.grace_seconds = static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(job.run.grace).count(), 1));
  if (options.gpus.empty() && job.trainer.device.starts_with("cuda")) options.gpus = "1";
  spec.options = std::move(options);
  if (auto status = check_paths(spec); !status) return pass(status);
  if (spec.listen.rfind(':') == std::string::npos || spec.listen.ends_with(':')) {
    return fail(Code::kInvalid, "cluster.listen " + spec.listen +
                                    ": has no port; write it as tcp://HOST:PORT, 0 for any");
  }
  return spec;
}

}  // namespace forebay
