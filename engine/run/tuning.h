#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/actor_host.h"
#include "core/runtime/synchronized.h"
#include "engine/control/control_server.h"
#include "engine/job/job_spec.h"
#include "engine/report/json_object.h"
#include "engine/run/live_pipeline.h"
#include "tuner/live/tuner_actor.h"
#include "tuner/log/decision_log.h"
#include "tuner/policy.h"
#include "tuner/policy/policies.h"

namespace forebay {

/// Describes a decision in one line: `transform 1 -> 3, prefetch 4 -> 6: transform holds the others
/// up`.
std::string describe(const tuner::Decision& decision,
                     const tuner::PipelineDescription& description);

/// Returns a decision as the data of an event: `number`, `policy`, `what` changes, `why`, the
/// `predicted` splits/s, what was `predicted_before` and `measured` for the period before it,
/// `guarded`, `fault`.
JsonObject decision_json(const tuner::Decision& decision,
                         const tuner::PipelineDescription& description);

/// Describes an allocation in one line: `load 1, decode 2, prefetch 4`.
std::string describe(const tuner::Allocation& allocation,
                     const tuner::PipelineDescription& description);

/// The tuner of a running job: its policy, its actor, its log, and the server for `forebay set`.
///
/// Active from its construction to end(). No error in it ends the job: it is reported in a note,
/// and the job goes on with another policy or with the current allocation. Any thread may call it;
/// the run must outlive it.
class Tuning {
 public:
  /// Checks that a running job can use its policy. kInvalid names the nearest one.
  static Status check(const JobSpec& job);

  /// Makes the policy in place of `tuner.policy`; null: that one is made.
  using MakePolicy = std::function<std::unique_ptr<tuner::Policy>(const tuner::PolicyContext&)>;

  struct Hooks {
    MakePolicy make = {};
    /// Receives each decision as decision_json() gives it, on the tuner's thread.
    std::function<void(const JsonObject&)> on_decision = {};
  };

  Tuning(JobRun& run, const JobSpec& job, const CpuLimit& cpus, const std::string& command,
         Hooks hooks);
  ~Tuning();

  /// Ends the tuner, saves its learned state, closes the control server. Further calls do nothing.
  void end();

  std::uint64_t decisions() const { return decisions_.load(std::memory_order_relaxed); }
  /// Seconds of CPU used by the tuner's thread.
  double cpu_seconds() const { return cpu_seconds_.load(std::memory_order_relaxed); }
  /// Describes the last decision for the progress line; empty before the first.
  std::string last_decision() const;
  /// Returns messages for the user, each only once.
  std::vector<std::string> take_notes();
  tuner::Limits limits() const { return tuned_pipeline_.limits(); }
  /// Returns the current `pipeline.memory`.
  std::uint64_t memory() const { return tuned_pipeline_.memory(); }

  /// Frees memory for batches that the consumer keeps (LivePipeline::set_held).
  bool set_held(std::uint64_t bytes) { return tuned_pipeline_.set_held(bytes); }

  /// Sets the answers to `forebay status`, `top` and `trace`, which are called on any thread; with
  /// empty `queries` they are not answered.
  void show(ControlServer::Queries queries);

  /// Returns whether it may change anything: `tuner.mode` is on.
  bool acts() const { return mode_.load(std::memory_order_relaxed) == tuner::Mode::kOn; }

  /// Sets the function that handles `forebay set trainer.threads=N`, on any thread; without one,
  /// that command is refused.
  using SetThreads = std::function<Result<std::string>(int threads)>;
  void take_threads(SetThreads set_threads);

  /// Changes the running job with the arguments of `forebay set`. Returns a description of the
  /// change; kInvalid names the key.
  Result<std::string> set(const std::string& key, const std::string& value);

 private:
  std::unique_ptr<tuner::Tuner> make_tuner();
  std::unique_ptr<tuner::Policy> make_policy();
  std::unique_ptr<tuner::Policy> fallback_policy();
  tuner::PolicyContext context() const;
  void note(const std::string& line);
  std::string seen(const ControlServer::Query& look) const;
  void on_decision(const tuner::Decision& decision);
  void log(const tuner::Decision& decision);
  Result<std::string> set_threads(int threads);
  Result<std::string> set_mode(const std::string& value);
  Result<std::string> set_memory(std::uint64_t bytes);
  Result<std::string> set_cost(std::size_t number, const std::string& value);

  JobRun& run_;
  const JobSpec& job_;
  const CpuLimit& cpus_;
  const std::string command_;
  const Hooks hooks_;
  LivePipeline tuned_pipeline_;
  tuner::Allocation start_;
  tuner::LogHeader header_;                      // used on the tuner's thread, like the two below
  std::optional<tuner::DecisionLogWriter> log_;  // made with the first decision
  bool log_failed_ = false;
  std::atomic<std::uint64_t> decisions_{0};
  std::atomic<double> cpu_seconds_{0};
  std::atomic<tuner::Mode> mode_;
  const Synchronized<> turning_;  // guards the one below
  SetThreads set_threads_;
  const Synchronized<> looking_;  // guards the one below
  ControlServer::Queries queries_;
  const Synchronized<> said_;  // guards the two below
  std::vector<std::string> notes_;
  std::string last_decision_;
  std::optional<ActorSystem> actors_;
  tuner::TunerActor::Ref tuner_;
  std::unique_ptr<ControlServer> control_;
};

/// Returns the path of a run's decision log; `back` counts earlier runs (0: this run).
std::string decision_log_path(const std::string& run_dir, int back);
inline constexpr int kDecisionLogsKept = 4;

}  // namespace forebay
