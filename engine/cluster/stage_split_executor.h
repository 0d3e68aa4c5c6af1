#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/thread/start_thread.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/node_stages.h"
#include "engine/cluster/worker_job.h"
#include "engine/energy/energy_meter.h"
#include "engine/energy/worker_energy.h"
#include "engine/process/memory_use.h"
#include "scheduler/worker/split_executor.h"

namespace forebay {

/// Executes a worker node's leases: opens the job and runs its stages.
///
/// Owns the job that runs and its stages, and those that have ended and are still in use. A job is
/// opened on a thread of its own, since files may have to be read first. Before it opens a job,
/// that thread destroys the earlier ones with their dataset, index and threads: once their actors
/// have ended and no call of with_stages() uses them. Frames keep only their own buffers, and may
/// outlive this object. stop() may be called on any thread, also while the worker actor opens
/// another job.
class StageSplitExecutor final : public scheduler::SplitExecutor {
 public:
  struct Options {
    WorkerSetup place;
    std::uint64_t resident = 0;  ///< Bytes that the process uses besides a job.
    /// Called when the stages start to run, and with null when they stop. On the opening thread, or
    /// in stop().
    std::function<void(NodeStages*, WorkerJob*)> on_stages;
  };

  explicit StageSplitExecutor(Options options) : options_(std::move(options)) {}
  ~StageSplitExecutor() override { stop(); }

  /// Sets the actor that receives results. Call it before the worker actor begins.
  void report_to(scheduler::WorkResults worker) { worker_ = std::move(worker); }
  /// Ends the stages; opens and reports nothing afterwards. The job lives as long as this object.
  void stop();

  /// Calls `use` with the running stages, if there are any. They live until it returns.
  void with_stages(const std::function<void(NodeStages&, const WorkerJob&)>& use) const;

  void open(const scheduler::JobShare& job, std::uint64_t opening) override;
  void begin(std::uint64_t split) override;
  bool forget(std::uint64_t) override { return false; }
  bool begun(std::uint64_t) const override { return true; }
  std::uint32_t slots() const override;
  Load load() override;
  scheduler::JobUse use() const override;

 private:
  /// From when its opening began.
  struct Energy {
    EnergyMeter meter{EnergyMeter::Sources{}};
    double cpu_before = process_cpu_seconds();
  };
  struct Opened {
    std::unique_ptr<Energy> energy;
    std::unique_ptr<WorkerJob> job;
    std::unique_ptr<NodeStages> stages;
  };

  using Job = std::shared_ptr<Opened>;

  Job running() const {
    return current_([this] { return running_; });
  }
  bool is_over(std::uint64_t opening) const { return stopped_ || opening_ != opening; }
  void open_now(const scheduler::JobShare& job, std::uint64_t opening);
  Result<Opened> make_stages(const scheduler::JobShare& job, scheduler::WorkOpened& told);
  std::uint64_t taken() const;
  void end_stages();
  void release_ended(std::uint64_t opening);

  const Options options_;
  scheduler::WorkResults worker_;
  std::atomic<bool> stopped_{false};
  const Synchronized<> serial_{};   // held while a job is opened or ended
  std::unique_ptr<Thread> opener_;  // guarded by serial_
  std::vector<Job> ended_;          // not released yet; the opener's while it runs, else by serial_
  const Synchronized<> current_{};  // guards running_
  Job running_;
  std::atomic<std::uint64_t> opening_{0};
  const std::uint64_t machine_ = machine_number();
  double cpu_before_ = 0;  // used on the worker actor's thread, like load_before_
  std::optional<std::chrono::nanoseconds> load_before_;
  SystemClock clock_;
};

}  // namespace forebay
