#include "tools/launch/launch_spec.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/data/digest.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string absolute(const std::string& path) {
  if (path.empty()) return path;
  fs::path whole = fs::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.string();
}

// Slurm, Kubernetes and file systems all take it: lower case, digits and dashes, below 40 letters.
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

}  // namespace

Result<LaunchSpec> launch_spec(const JobSpec& job, std::string job_text, std::string forebay,
                               LaunchOptions options) {
  LaunchSpec spec;
  spec.job_file = absolute(job.path);
  spec.job_text = std::move(job_text);
  spec.job_dir = absolute(job.base_dir);
  spec.run_dir = absolute(job.run.dir);
  spec.out = absolute(options.out.empty() ? job.run.dir + "/launch" : options.out);
  spec.keys = absolute(job.cluster.keys);
  spec.name = name_of(spec.job_file);
  spec.forebay = std::move(forebay);
  spec.listen = listening(job, options);
  spec.metrics = job.cluster.metrics;
  spec.cpus = job.pipeline.cpus;
  spec.memory_bytes = job.pipeline.memory_bytes;
  spec.grace_seconds = static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(job.run.grace).count(), 1));
  if (options.gpus.empty() && job.trainer.device.starts_with("cuda")) options.gpus = "1";
  spec.options = std::move(options);
  if (spec.listen.rfind(':') == std::string::npos || spec.listen.ends_with(':')) {
    return fail(Code::kInvalid, "cluster.listen " + spec.listen +
                                    ": has no port; write it as tcp://HOST:PORT, 0 for any");
  }
  return spec;
}

}  // namespace forebay
