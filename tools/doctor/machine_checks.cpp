#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "actors/sizing.h"
#include "core/base/cpu_level.h"
#include "core/base/enum_names.h"
#include "core/base/text/printable.h"
#include "engine/job/quantity.h"
#include "engine/process/machine.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/store_checks.h"
#include "tools/doctor/system_checks.h"

namespace forebay {
namespace {

constexpr EnumName<Finding::Verdict> kVerdicts[] = {{"ok", Finding::Verdict::kOk},
                                                    {"warn", Finding::Verdict::kWarn},
                                                    {"bad", Finding::Verdict::kBad}};

std::string message_of(const Finding& check) {
  return check.advice.empty() ? check.what : check.what + " — " + check.advice;
}

Finding check_cpus(const std::optional<JobSpec>& job) {
  const int cpus = available_cpus();
  const std::string there = std::to_string(cpus) + " for this process (affinity and cgroup)";
  if (job && job->pipeline.cpus > cpus) {
    return Finding::warn("cpus",
                         there + ", pipeline.cpus asks for " + std::to_string(job->pipeline.cpus),
                         "lower pipeline.cpus, or give the process more");
  }
  if (cpus == 1) {
    return Finding::warn("cpus", there,
                         "the pipeline and the model will take turns; two are better");
  }
  return Finding::ok("cpus", there);
}

Finding check_simd() {
  auto chosen = chosen_cpu_level();
  if (!chosen) return Finding::bad("simd", chosen.error());
  if (const char* forced = std::getenv("FOREBAY_SIMD"); forced != nullptr) {
    return Finding::warn("simd", std::string(forced) + ", because FOREBAY_SIMD says so",
                         "unset it for the fastest there is");
  }
  if (*chosen == CpuLevel::kAvx512) return Finding::ok("simd", "AVX-512");
  if (*chosen == CpuLevel::kAvx2) return Finding::ok("simd", "AVX2");
  return Finding::warn("simd", "neither AVX2 nor AVX-512",
                       "decoding and transforms will be several times slower than on a newer CPU");
}

Finding check_memory(const std::optional<JobSpec>& job) {
  const std::uint64_t there = available_memory();
  const std::string available = format_size(there) + " available";
  if (!job) return Finding::ok("memory", available);
  const std::string wanted = "pipeline.memory is " + format_size(job->pipeline.memory_bytes);
  if (job->pipeline.memory_bytes <= there)
    return Finding::ok("memory", wanted + " of " + available);
  return Finding::warn("memory", wanted + ", but only " + available,
                       "lower pipeline.memory or end what else runs; the kernel may kill the run");
}

Finding check_blas(const Blas& blas) {
  switch (blas.kind) {
    case Blas::Kind::kFast:
      return Finding::ok("blas", blas.path);
    case Blas::Kind::kReference:
      return Finding::warn("blas",
                           blas.path + " is the reference BLAS: training is about 18 times slower",
                           "apt-get install libopenblas0-pthread");
    case Blas::Kind::kUnknown:
      return Finding::warn("blas", blas.path + " is not known to be fast",
                           "apt-get install libopenblas0-pthread if training is slow");
    case Blas::Kind::kNone:
      return Finding::ok("blas", "part of libtorch");
  }
  return {};
}

namespace fs = std::filesystem;

constexpr std::uint64_t kTight = std::uint64_t{1} << 30;
constexpr std::uint64_t kFull = std::uint64_t{32} << 20;

fs::path nearest_there(const std::string& path) {
  std::error_code error;
  fs::path place = fs::absolute(path, error);
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  return place;
}

}  // namespace

std::string to_line(const Finding& check) {
  std::string line(name_in(kVerdicts, check.verdict));
  line.resize(6, ' ');
  return line + check.name + ": " + printable_message(message_of(check));
}

JsonObject to_json(const Finding& check) {
  return JsonObject()
      .add("name", check.name)
      .add("status", name_in(kVerdicts, check.verdict))
      .add("message", message_of(check));
}

std::size_t count_bad(const std::vector<Finding>& checks) {
  return static_cast<std::size_t>(std::ranges::count_if(
      checks, [](const Finding& check) { return check.verdict == Finding::Verdict::kBad; }));
}

std::vector<Finding> check_machine(const std::optional<JobSpec>& job) {
  std::vector<Finding> findings{check_cpus(job), check_simd(), check_memory(job)};
  std::ranges::move(check_system(job ? needs_of(*job) : SystemNeeds()),
                    std::back_inserter(findings));
  return findings;
}

SystemNeeds needs_of(const JobSpec& job) {
  const auto cpus = static_cast<std::uint64_t>(job.pipeline.cpus);
  const std::uint64_t usual = 2 * cpus + job.stages.size();
  const std::uint64_t actors = job.max_actors > 0 ? job.max_actors : usual;
  return {.threads = std::max(actors, job.pipeline.total_actors()) + kOtherActors,
          .memory = job.pipeline.memory_bytes,
          .network = job.cluster.used() || std::ranges::any_of(job.dataset.paths, is_in_store)};
}

std::vector<Finding> check_torch(const Result<TorchProbe>& probe, Training training) {
  if (training == Training::kNo) return {Finding::ok("libtorch", "not needed by this job")};
  if (!probe) {
    if (training == Training::kWanted) return {Finding::bad("libtorch", probe.error())};
    return {Finding::warn("libtorch", probe.error().message,
                          "every command but train works without it")};
  }
  return {Finding::ok("libtorch", probe->version + ", takes " + format_size(probe->bytes)),
          check_blas(probe->blas)};
}

std::uint64_t free_bytes(const std::string& path) {
  struct statvfs disk = {};
  if (::statvfs(nearest_there(path).c_str(), &disk) != 0) return 0;
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

Finding check_writable_path(const std::string& name, const std::string& key,
                            const std::string& path) {
  const fs::path there = nearest_there(path);
  std::error_code error;
  errno = fs::is_directory(there, error) ? 0 : ENOTDIR;
  if (errno != 0 || ::access(there.c_str(), W_OK | X_OK) != 0) {
    const std::string why = std::strerror(errno);
    return {name, Finding::Verdict::kBad, key + " " + path + ": cannot be written (" + why + ")",
            "set " + key + " to a folder of yours"};
  }
  const std::uint64_t free = free_bytes(path);
  const std::string left = path + " has " + format_size(free) + " of disk left";
  if (free < kFull) return {name, Finding::Verdict::kBad, left, "make room, or set " + key};
  if (free < kTight) return Finding::warn(name, left, "make room, or set " + key);
  return Finding::ok(name, left);
}

Finding check_open_files(std::uint64_t wanted) {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string most = limit.rlim_cur == RLIM_INFINITY
                               ? "any number of files may be open at once"
                               : format_count(limit.rlim_cur) + " files may be open at once";
  if (wanted <= limit.rlim_cur) return Finding::ok("open files", most);
  return Finding::warn("open files", most + ", the job may want " + format_count(wanted),
                       "raise the limit: ulimit -n " + std::to_string(wanted));
}

}  // namespace forebay
