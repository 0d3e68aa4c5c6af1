#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "trainer/model.h"
#include "tuner/thread_search.h"

namespace forebay {

/// The model's threads while a job runs: the model and the pipeline share the CPUs, and with
/// `trainer.deterministic = false` the model gets as many as let the whole job train fastest.
///
/// Measures windows of training, tells a tuner::ThreadSearch of them and does what it says, while
/// the tuner's mode is on. Each trial is a line of threads.jsonl in the job's folder; one that
/// changed something is said. With `deterministic`, the default, it does nothing. Belongs to the
/// model's thread but for set() and threads().
class ModelThreads {
 public:
  struct Hooks {
    std::function<bool()> acts;                   ///< Whether the tuner may change anything now.
    std::function<void(const std::string&)> say;  ///< What a person should hear.
  };

  /// The CPUs that this process may use, and the job's trainers that share them.
  struct Machine {
    int cpus = 1;
    int trainers = 1;
  };

  /// Whether this job's threads may change while it runs.
  static bool may_change(const JobSpec& job);
  /// The threads that a job begins with: `trainer.threads`; without it as many as `pipeline.cpus`,
  /// at most this trainer's share of the machine and kModelShares. The pipeline has no CPU of its
  /// own: it needs a small share of one, and the kernel gives it that share when it asks.
  static int first(const JobSpec& job, const Machine& machine);
  /// The threads that the model has to be made for, where it begins with `start`.
  static int most(const JobSpec& job, int start);

  /// The model begins with `start` threads; it was made for `most` and outlives this.
  ModelThreads(const JobSpec& job, int start, int most, Model& model, Hooks hooks);

  /// After each step: rows and time of the run so far, whatever was no training left out.
  void after_step(std::uint64_t rows, std::chrono::nanoseconds trained);

  /// `forebay set trainer.threads=N`, from any thread: N from the next step on, and no more trials.
  Result<std::string> set(int threads);

  int threads() const { return using_.load(std::memory_order_relaxed); }
  std::uint64_t trials() const { return trials_; }

 private:
  void use(int threads);
  void note(const tuner::ThreadTrial& trial);

  const bool may_change_;
  const int most_;
  const Hooks hooks_;
  Model& model_;
  tuner::ThreadSearch search_;
  std::ofstream log_;
  std::atomic<int> using_;
  std::atomic<int> asked_{0};  // by a person; 0: nothing
  bool fixed_ = false;
  std::uint64_t trials_ = 0;
  std::uint64_t steps_ = 0;  // this and below: of the window that is open
  std::uint64_t rows_before_ = 0;
  std::chrono::nanoseconds trained_before_{0};
};

}  // namespace forebay
