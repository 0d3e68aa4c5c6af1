#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "actors/pipeline.h"
#include "core/base/result.h"
#include "engine/process/memory_use.h"
#include "scheduler/worker/split_executor.h"

namespace forebay {

/// Runs the trainer's own stages as one more node of the cluster. Splits that they make enter the
/// reorder buffer directly.
///
/// The pipeline outlives it. Called on the local worker's thread; `made` on any thread.
class LocalSplitExecutor final : public scheduler::SplitExecutor {
 public:
  LocalSplitExecutor(Pipeline& pipeline, std::string job, std::string fingerprint)
      : pipeline_(pipeline), job_(std::move(job)), fingerprint_(std::move(fingerprint)) {}

  void report_to(scheduler::WorkResults worker) { worker_ = std::move(worker); }

  /// Reports that the pipeline's own stages have made this split.
  void made(std::uint64_t split) const {
    static_cast<void>(worker_.tell(
        scheduler::WorkDone{.opening = opening_, .split = split, .frames = {}, .handed_on = true}));
  }

  /// The stages' output goes only into this trainer's batches. Refuses another trainer's job on the
  /// same head, even if it has the same splits.
  void open(const scheduler::JobShare& job, std::uint64_t opening) override {
    opening_ = opening;
    scheduler::WorkOpened opened{
        .opening = opening, .fingerprint = fingerprint_, .error = std::nullopt};
    if (job.id != job_) {
      opened.error = Error{Code::kInvalid, "a trainer that waits makes splits of its own job only"};
    }
    static_cast<void>(worker_.tell(std::move(opened)));
  }
  void begin(std::uint64_t split) override { pipeline_.make(split); }
  bool forget(std::uint64_t) override { return false; }
  bool begun(std::uint64_t) const override { return true; }
  std::uint32_t slots() const override {
    constexpr std::uint32_t kReady = 2;
    const StagePools& stages = pipeline_.stages();
    return static_cast<std::uint32_t>(stages.actors_wanted() + stages.size()) + kReady;
  }
  Load load() override {
    return {.busy_cpus = 0,
            .memory_bytes = resident_bytes(),
            .cpus = cpus_,
            .memory_limit = memory_limit_};
  }

  /// Sets what this node may use now; its next heartbeat says so. Any thread.
  void set_limits(double cpus, std::uint64_t memory_bytes) {
    cpus_ = cpus;
    memory_limit_ = memory_bytes;
  }

 private:
  Pipeline& pipeline_;
  const std::string job_;  // this trainer's job id
  const std::string fingerprint_;
  scheduler::WorkResults worker_;
  std::atomic<std::uint64_t> opening_{0};
  std::atomic<double> cpus_{0};
  std::atomic<std::uint64_t> memory_limit_{0};
};

}  // namespace forebay
