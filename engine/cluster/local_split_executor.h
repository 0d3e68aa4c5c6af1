#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "actors/pipeline.h"
#include "engine/process/memory_use.h"
#include "scheduler/split_executor.h"

namespace forebay {

/// The trainer's own stages as one more node's: what they make is in the reorder buffer at once.
///
/// The pipeline outlives it. Called on the local worker's thread, `made` from any.
class LocalSplitExecutor final : public scheduler::SplitExecutor {
 public:
  LocalSplitExecutor(Pipeline& pipeline, std::string job, std::string fingerprint)
      : pipeline_(pipeline), job_(std::move(job)), fingerprint_(std::move(fingerprint)) {}

  void report_to(scheduler::WorkResults worker) { worker_ = std::move(worker); }

  /// The pipeline's own stages have made this split.
  void made(std::uint64_t split) const {
    static_cast<void>(worker_.tell(
        scheduler::WorkDone{.opening = opening_, .split = split, .frames = {}, .handed_on = true}));
  }

  /// What the stages make goes into this trainer's batches and nowhere else, so another trainer's
  /// job on the same head is none for them, even where it has the same splits.
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
    return static_cast<std::uint32_t>(pipeline_.allocation().total()) + kNumStages + kReady;
  }
  Load load() override { return {.busy_cpus = 0, .memory_bytes = resident_bytes()}; }

 private:
  Pipeline& pipeline_;
  const std::string job_;  // its id
  const std::string fingerprint_;
  scheduler::WorkResults worker_;
  std::atomic<std::uint64_t> opening_{0};
};

}  // namespace forebay
