#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "engine/cluster/thread_advice.h"
#include "engine/job/job_spec.h"
#include "trainer/model.h"
#include "tuner/thread_search.h"

namespace forebay {

/// Sets the number of the model's threads while a job runs: the model and the pipeline share the
/// CPUs, and with `trainer.deterministic = false` the model gets the number with which the whole
/// job trains fastest.
///
/// Measures windows of training, passes them to a tuner::ThreadSearch and applies its result while
/// the tuner's mode is on. Each trial of the search is a line of threads.jsonl in the job's folder;
/// each change that it makes is reported. Where a central tuner decides for all nodes, it advises
/// the numbers and logs them in central.jsonl, and the search begins when it falls silent. With
/// `deterministic`, the default, it does nothing. Belongs to the model's thread except check().
class ModelThreads {
 public:
  struct Hooks {
    std::function<bool()> acts;  ///< Returns whether the tuner may change anything now.
    std::function<void(const std::string&)> say;  ///< Reports a message to the user.
    /// The central tuner's: its numbers count unless it is silent. Null: there is none.
    ThreadAdvice* central = nullptr;
  };

  /// Returns whether this job's threads may change while it runs.
  static bool may_change(const JobSpec& job);
  /// Returns the number of threads at the start: `trainer.threads`; without it `pipeline.cpus`, but
  /// at most its share of the machine's `cpus`, which so many `trainers` of the job use, and
  /// kModelShares. No CPU is reserved for the pipeline: it needs a small share of one, which the
  /// kernel gives it on demand.
  static int first(const JobSpec& job, int cpus, int trainers = 1);
  /// Returns the largest number of threads that the model must support if it starts with `start`.
  static int most(const JobSpec& job, int start);

  /// The model starts with `start` threads; it was made for `most` and outlives this object.
  ModelThreads(const JobSpec& job, int start, int most, Model& model, Hooks hooks);

  /// To be called after each step with the rows and the training time of the run so far.
  void after_step(std::uint64_t rows, std::chrono::nanoseconds trained);

  /// Checks `forebay set trainer.threads=N` on any thread; returns the description of the change.
  Result<std::string> check(int threads) const;
  /// Uses a number that was checked, and ends the trials.
  void fix(int threads);

  int threads() const { return using_; }

 private:
  void use(int threads);
  bool follows_central();
  void search_alone();
  tuner::ThreadSearch::Options options() const { return {.start = using_, .most = most_}; }
  void note(const tuner::ThreadTrial& trial);

  const bool may_change_;
  const int most_;
  const Hooks hooks_;
  Model& model_;
  std::optional<tuner::ThreadSearch> search_;  // empty while a central tuner decides
  std::ofstream log_;
  int using_;
  bool fixed_ = false;
  std::uint64_t steps_ = 0;  // this and below: of the current window
  std::uint64_t rows_before_ = 0;
  std::chrono::nanoseconds trained_before_{0};
};

}  // namespace forebay
