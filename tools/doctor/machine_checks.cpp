#include "tools/doctor/machine_checks.h"

#include <cstdlib>
#include <string>

#include "core/base/cpu_level.h"
#include "tools/job/quantity.h"
#include "tools/process/machine.h"

namespace forebay {
namespace {

Check check_cpus(const std::optional<JobSpec>& job) {
  const int cpus = available_cpus();
  const std::string there = std::to_string(cpus) + " for this process (affinity and cgroup)";
  if (job && job->pipeline.cpus > cpus) {
    return Check::warn("cpus",
                       there + ", pipeline.cpus asks for " + std::to_string(job->pipeline.cpus),
                       "lower pipeline.cpus, or give the process more");
  }
  if (cpus == 1) {
    return Check::warn("cpus", there, "the pipeline and the model will take turns; two are better");
  }
  return Check::ok("cpus", there);
}

Check check_simd() {
  auto chosen = chosen_cpu_level();
  if (!chosen) return Check::bad("simd", chosen.error());
  if (const char* forced = std::getenv("FOREBAY_SIMD"); forced != nullptr) {
    return Check::warn("simd", std::string(forced) + ", because FOREBAY_SIMD says so",
                       "unset it for the fastest there is");
  }
  if (*chosen == CpuLevel::kAvx512) return Check::ok("simd", "AVX-512");
  if (*chosen == CpuLevel::kAvx2) return Check::ok("simd", "AVX2");
  return Check::warn("simd", "neither AVX2 nor AVX-512",
                     "decoding and transforms will be several times slower than on a newer CPU");
}

Check check_memory(const std::optional<JobSpec>& job) {
  const std::uint64_t there = available_memory();
  const std::string available = format_size(there) + " available";
  if (!job) return Check::ok("memory", available);
  const std::string wanted = "pipeline.memory is " + format_size(job->pipeline.memory_bytes);
  if (job->pipeline.memory_bytes <= there) return Check::ok("memory", wanted + " of " + available);
  return Check::warn("memory", wanted + ", but only " + available,
                     "lower pipeline.memory or end what else runs; the kernel may kill the run");
}

Check check_blas(const Blas& blas) {
  switch (blas.kind) {
    case Blas::Kind::kFast:
      return Check::ok("blas", blas.path);
    case Blas::Kind::kReference:
      return Check::warn("blas",
                         blas.path + " is the reference BLAS: training is about 18 times slower",
                         "apt-get install libopenblas0-pthread");
    case Blas::Kind::kUnknown:
      return Check::warn("blas", blas.path + " is not known to be fast",
                         "apt-get install libopenblas0-pthread if training is slow");
    case Blas::Kind::kNone:
      return Check::ok("blas", "part of libtorch");
  }
  return {};
}

}  // namespace

std::vector<Check> check_machine(const std::optional<JobSpec>& job) {
  return {check_cpus(job), check_simd(), check_memory(job)};
}

std::vector<Check> check_torch(const Result<TorchProbe>& probe, Training training) {
  if (training == Training::kNo) return {Check::ok("libtorch", "not needed by this job")};
  if (!probe) {
    if (training == Training::kWanted) return {Check::bad("libtorch", probe.error())};
    return {
        Check::warn("libtorch", probe.error().message, "every command but train works without it")};
  }
  return {Check::ok("libtorch", probe->version + ", takes " + format_size(probe->bytes)),
          check_blas(probe->blas)};
}

}  // namespace forebay
