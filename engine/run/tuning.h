#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/actor_system.h"
#include "core/runtime/synchronized.h"
#include "engine/job/job_spec.h"
#include "engine/run/control_server.h"
#include "engine/run/live_pipeline.h"
#include "tuner/live/tuner_actor.h"
#include "tuner/log/decision_log.h"
#include "tuner/policy/policies.h"

namespace forebay {

/// The tuner of a running job: its policy, its actor, its log, and the ear for `forebay set`.
///
/// From its construction to end(). Nothing that goes wrong in it ends the job: it is said in a note
/// and the job goes on, with another policy or with what stands. Any thread may ask; the run must
/// outlive it.
class Tuning {
 public:
  /// Whether the job's policy is one that a running job can have. kInvalid names the nearest.
  static Status check(const JobSpec& job);

  Tuning(JobRun& run, const JobSpec& job, const CpuLimit& cpus, const std::string& command);
  ~Tuning();
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  /// Ends the tuner, keeps its learned state, closes the ear. Once is enough.
  void end();

  std::uint64_t decisions() const { return decisions_.load(std::memory_order_relaxed); }
  /// CPU that the tuner's thread has used.
  double cpu_seconds() const { return cpu_seconds_.load(std::memory_order_relaxed); }
  /// The last decision and why, for the progress line; empty before the first.
  std::string last_decision() const;
  /// What a person should hear, once.
  std::vector<std::string> take_notes();
  tuner::Limits limits() const { return tuned_pipeline_.limits(); }
  /// `pipeline.memory` as it is now.
  std::uint64_t memory() const { return tuned_pipeline_.memory(); }

  /// Makes room for batches that the consumer keeps (LivePipeline::set_held).
  bool set_held(std::uint64_t bytes) { return tuned_pipeline_.set_held(bytes); }

  /// What `forebay status`, `top` and `trace` are answered, from any thread; nothing once `queries`
  /// is empty.
  void show(ControlServer::Queries queries);

  /// Whether it may change anything: `tuner.mode` is on.
  bool acts() const { return mode_.load(std::memory_order_relaxed) == tuner::Mode::kOn; }

  /// Who answers `forebay set trainer.threads=N`, from any thread; refused while nobody does.
  using SetThreads = std::function<Result<std::string>(int threads)>;
  void take_threads(SetThreads set_threads);

  /// Changes the running job: `key` and `value` as `forebay set` was given them. What was done, in
  /// words; kInvalid names the key.
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
  LivePipeline tuned_pipeline_;
  tuner::Allocation start_;
  tuner::LogHeader header_;                      // the tuner's thread, as the two below
  std::optional<tuner::DecisionLogWriter> log_;  // made with the first decision
  bool log_failed_ = false;
  std::atomic<std::uint64_t> decisions_{0};
  std::atomic<double> cpu_seconds_{0};
  std::atomic<tuner::Mode> mode_;
  const Synchronized<> turning_;  // over the one below
  SetThreads set_threads_;
  const Synchronized<> looking_;  // over the one below
  ControlServer::Queries queries_;
  const Synchronized<> said_;  // over the two below
  std::vector<std::string> notes_;
  std::string last_decision_;
  std::optional<ActorSystem> actors_;
  tuner::TunerActor::Ref tuner_;
  std::unique_ptr<ControlServer> control_;
};

/// Where a run keeps its decisions, and where the `back`-th run before it did (0: this one).
std::string decision_log_path(const std::string& run_dir, int back);
inline constexpr int kDecisionLogsKept = 4;

}  // namespace forebay
