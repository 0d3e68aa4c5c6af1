#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/actor.h"
#include "scheduler/finders.h"
#include "scheduler/protocol.h"
#include "scheduler/split_executor.h"

namespace forebay::scheduler {

/// Owner → worker: begin: join. Once, right after it was spawned.
struct BeginWorker {
  static constexpr std::string_view kTag = "worker.begin/1";
};

/// Worker → itself, every heartbeat.
struct WorkerTick {
  static constexpr std::string_view kTag = "worker.tick/1";
  std::uint64_t pace = 0;
};

/// Worker → itself: what could not be sent may have room now.
struct SendAgain {
  static constexpr std::string_view kTag = "worker.send_again/1";
};

/// Owner → worker: go in good order: give back what has not begun, finish and hand over the rest
/// within `grace`, give back what is left then.
struct GoAway {
  static constexpr std::string_view kTag = "worker.go_away/1";
  std::chrono::nanoseconds grace = std::chrono::seconds(5);
};

struct WorkerStatus {
  enum class Phase : std::uint8_t {
    kConnecting,  ///< No head answers, or it has not answered yet.
    kIdle,        ///< A member; there is no job.
    kOpening,     ///< The job's files are being opened and checked.
    kWorking,
    kRefused,  ///< The head or our own work says that we cannot make this job's splits.
    kLeaving,
    kGone,
  };
  Phase phase = Phase::kConnecting;
  std::uint64_t incarnation = 0;
  std::string job;
  std::uint64_t making = 0;
  std::uint64_t ready = 0;  ///< Made, and not handed over yet.
  std::uint64_t splits_done = 0;
  std::string trouble;
  /// Why it cannot make the splits of its job, or of its last one; empty: it can.
  std::string refused;
};

/// Anyone in the process → worker: how is it?
struct QueryWorker {
  static constexpr std::string_view kTag = "worker.query/1";
  using Reply = WorkerStatus;
};

struct WorkerOptions {
  std::string name;  ///< Unique in the cluster.
  std::string host;
  std::uint64_t pid = 0;
  std::string version;
  std::string operators;
  double cpus = 0;
  std::uint64_t memory_bytes = 0;
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  std::chrono::nanoseconds reconnect = std::chrono::milliseconds(500);  ///< While no head answers.
  std::chrono::nanoseconds ask_timeout = std::chrono::seconds(2);
  /// What was announced or sent and not answered is announced again.
  std::chrono::nanoseconds announce_again = std::chrono::seconds(1);
  /// Told, in a sentence, what happens. On the worker's thread, as those below.
  std::function<void(const std::string&)> say;
  /// The job ended, with an error unless empty, and how the worker was then; it waits for the next.
  std::function<void(const std::string& error, const WorkerStatus& last)> on_job_ended;
  /// The worker is gone, in good order or because it was refused, and how it was then.
  std::function<void(const WorkerStatus& last)> on_ended;
};

/// A node's member of the cluster: makes the splits it is leased and holds them until they are
/// handed over.
///
/// Owns the frames of what is made. While the head or the split client cannot be reached it keeps
/// what it has and reconnects; it acts on nothing that names another incarnation. A split stays in
/// its heartbeats until the split client confirms it, so what was lost on the way is announced
/// again. `work` and the finders are called on the actor's thread and outlive it; GoAway,
/// QueryWorker and the work's results may come from any thread.
class WorkerActor final : public ActorOf<WorkerActor, Lease, Revoke, JobEnded, Evicted, JobOffer,
                                         Pull, Drop, WorkOpened, WorkDone, WorkFailed, BeginWorker,
                                         WorkerTick, SendAgain, GoAway, QueryWorker, Answered<Join>,
                                         Answered<Prepared>, Answered<Heartbeat>, Answered<Leave>> {
 public:
  using Time = std::chrono::nanoseconds;
  using Phase = WorkerStatus::Phase;

  WorkerActor(WorkerOptions options, SplitExecutor& work, HeadFinder& heads,
              SplitClientFinder& split_clients);

  Status on(const Lease& lease, Context& context);
  Status on(const Revoke& revoke, Context& context);
  Status on(const JobEnded& ended, Context& context);
  Status on(const Evicted& evicted, Context& context);
  Status on(const JobOffer& offer, Context& context);
  Status on(const Pull& pull, Context& context);
  Status on(const Drop& drop, Context& context);
  Status on(const WorkOpened& opened, Context& context);
  Status on(WorkDone&& done, Context& context);
  Status on(const WorkFailed& failed, Context& context);
  Status on(const BeginWorker& begin, Context& context);
  Status on(const WorkerTick& tick, Context& context);
  Status on(const SendAgain& again, Context& context);
  Status on(const GoAway& go, Context& context);
  Result<WorkerStatus> on(const QueryWorker& query, Context& context);
  Status on(const Answered<Join>& answer, Context& context);
  Status on(const Answered<Prepared>& answer, Context& context);
  Status on(const Answered<Heartbeat>& answer, Context& context);
  Status on(const Answered<Leave>& answer, Context& context);

 private:
  struct Held {
    enum class State : std::uint8_t {
      kMaking,
      kReady,   // Made; the split client knows, or will be told again.
      kPulled,  // The split client wants it; it goes as soon as there is room on the way.
      kSent,    // Kept until the split client says that it has it.
    };
    State state = State::kMaking;
    bool handed_on = false;
    Frames frames;
    Time told = {};  // When the split client was last told of it.
  };

  void join(Context& context);
  void keep_pace(const Accepted& accepted, Context& context);
  void reconnect_later(const Error& why, Context& context);
  void beat(Context& context);
  void refuse(const std::string& why);
  WorkerStatus status() const;
  void take_job(const JobShare& job, const std::string& split_client_address, Context& context);
  void say_prepared(Context& context);
  void announce(std::uint64_t split, Held& held, Context& context);
  void send(std::uint64_t split, Held& held, Context& context);
  void announce_again(Context& context);
  SplitClientRef& split_client();
  void forget(std::uint64_t split);
  void forget_all();
  void give_back(const std::vector<std::uint64_t>& splits, const std::string& error,
                 Context& context);
  void go_on_leaving(Context& context);
  void end(Context& context);
  bool is_member() const { return incarnation_ != 0; }
  void say(const std::string& sentence) const;

  const WorkerOptions options_;
  SplitExecutor& executor_;
  HeadFinder& heads_;
  SplitClientFinder& split_clients_;

  std::chrono::nanoseconds heartbeat_;
  std::uint64_t pace_ = 0;  // Ticks of an earlier one are nothing.
  Phase phase_ = Phase::kConnecting;
  HeadRef head_;
  SplitClientRef split_client_;
  std::string split_client_address_;
  std::uint64_t incarnation_ = 0;
  bool joining_ = false;  // An ask is on its way, as those below.
  bool beating_ = false;
  std::uint64_t attempt_ = 0;  // Of joining; answers to earlier ones are stale.
  Time next_reconnect_ = {};
  JobShare job_;
  std::uint64_t opening_ = 0;  // Of the job; results of earlier ones are stale.
  std::string fingerprint_;    // As found here; empty until it is open.
  std::string trouble_;
  std::string refused_;
  std::map<std::uint64_t, Held> held_;
  std::uint64_t splits_done_ = 0;
  bool will_send_again_ = false;
  std::optional<Time> leave_by_;
  bool said_leave_ = false;
};

}  // namespace forebay::scheduler
