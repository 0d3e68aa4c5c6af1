#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/actor.h"
#include "scheduler/protocol.h"
#include "scheduler/worker/held_splits.h"

namespace forebay::scheduler {

/// Owner → worker: begin: join. Sent once, right after the spawn.
struct BeginWorker {
  static constexpr std::string_view kTag = "worker.begin/1";
};

/// Worker → itself, once a heartbeat.
struct WorkerTick {
  static constexpr std::string_view kTag = "worker.tick/1";
  std::uint64_t pace = 0;
};

/// Worker → itself: retry messages that were refused because too much was queued.
struct SendAgain {
  static constexpr std::string_view kTag = "worker.send_again/1";
};

/// Owner → worker: leave in an orderly way: give back splits that have not begun, finish and hand
/// over the others within `grace`, then give back the rest.
struct GoAway {
  static constexpr std::string_view kTag = "worker.go_away/1";
  std::chrono::nanoseconds grace = std::chrono::seconds(5);
};

struct WorkerStatus {
  enum class Phase : std::uint8_t {
    kConnecting,  ///< No head is found, or it has not answered yet.
    kIdle,        ///< A member without a job.
    kOpening,     ///< The job's files are being opened and checked.
    kWorking,
    kRefused,  ///< The head or the local executor says that this worker cannot make the job's
               ///< splits.
    kLeaving,
    kGone,
  };
  Phase phase = Phase::kConnecting;
  std::uint64_t incarnation = 0;
  std::string job;
  std::uint64_t making = 0;
  std::uint64_t ready = 0;  ///< Made and not handed over yet.
  std::uint64_t splits_done = 0;
  std::string trouble;
  /// Why the worker cannot make the splits of its current or last job, or is not taken as a member;
  /// empty: it can.
  std::string refused;
  bool misconfigured = false;  ///< Refused since its own options cannot serve the job.
};

/// Any actor in the process → worker: query its status.
struct QueryWorker {
  static constexpr std::string_view kTag = "worker.query/1";
  using Reply = WorkerStatus;
};

struct WorkerOptions {
  std::string name;  ///< Unique in the cluster.
  std::string host;
  std::uint64_t pid = 0;
  std::string job = {};  ///< The id of the only job that it can make splits of; "": any job.
  std::string version;
  std::string operators;
  double cpus = 0;
  std::uint64_t memory_bytes = 0;
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  std::chrono::nanoseconds reconnect = std::chrono::milliseconds(500);  ///< While no head answers.
  std::chrono::nanoseconds ask_timeout = std::chrono::seconds(2);
  /// A split that was announced or sent and not answered is announced again after this time.
  std::chrono::nanoseconds announce_again = std::chrono::seconds(1);
  /// Called with a sentence for each event. On the worker's thread, as are those below.
  std::function<void(const std::string&)> say;
  /// Called when the job has ended, with its error or an empty string and the worker's status
  /// before; the worker then waits for the next job.
  std::function<void(const std::string& error, const WorkerStatus& last)> on_job_ended;
  /// Called with its last status when the worker has ended, after it left or was refused.
  std::function<void(const WorkerStatus& last)> on_ended;
};

/// A node's member of the cluster: makes the splits leased to it and holds them until they are
/// handed over.
///
/// Owns the frames of finished splits. While the head or the split client is unreachable it keeps
/// its splits and reconnects; it ignores messages for another incarnation. A split stays in its
/// heartbeats until the split client confirms it, so a split lost in transit is announced again.
/// `work` and the finders are called on the actor's thread and must outlive it; GoAway, QueryWorker
/// and the results of `work` may be sent from any thread. It stays when it is refused, since the
/// job may change; it leaves when its own options cannot serve the job of a head that has no other
/// one.
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
  using Held = HeldSplits::Held;

  void join(Context& context);
  void keep_pace(const Accepted& accepted, Context& context);
  void reconnect_later(const Error& why, Context& context);
  void beat(Context& context);
  void refuse(const std::string& why);
  WorkerStatus status() const;
  void take_job(const JobShare& job, const std::string& split_client_address, Context& context);
  void say_prepared(Context& context);
  void hand_over(std::uint64_t split, Held& held, Context& context);
  void announce(std::uint64_t split, Held& held, Context& context);
  void send(std::uint64_t split, Held& held, Context& context);
  void announce_again(Context& context);
  SplitClientRef& split_client();
  void give_back(const std::vector<std::uint64_t>& splits, const std::string& error,
                 Context& context);
  void leave_at_once(Context& context);
  void go_on_leaving(Context& context);
  void end(Context& context);
  bool is_member() const { return incarnation_ != 0; }
  void say(const std::string& sentence) const;

  const WorkerOptions options_;
  SplitExecutor& executor_;
  HeadFinder& heads_;
  SplitClientFinder& split_clients_;

  std::chrono::nanoseconds heartbeat_;
  std::uint64_t pace_ = 0;  // Ticks with an earlier value are ignored.
  Phase phase_ = Phase::kConnecting;
  HeadRef head_;
  SplitClientRef split_client_;
  std::string split_client_address_;
  std::uint64_t incarnation_ = 0;
  bool joining_ = false;       // An ask is in flight.
  std::uint64_t attempt_ = 0;  // Counts the attempts to join; answers to earlier ones are stale.
  Time next_reconnect_ = {};
  JobShare job_;
  std::uint64_t opening_ = 0;  // Counts the openings; results of earlier ones are stale.
  std::string fingerprint_;    // As computed here; empty until the job is open.
  std::string trouble_;
  std::string refused_;
  bool misconfigured_ = false;  // with refused_
  std::string turned_away_;     // why the head does not take it as a member now
  HeldSplits held_;
  std::uint64_t splits_done_ = 0;
  bool will_send_again_ = false;
  std::optional<Time> leave_by_;
  bool said_leave_ = false;
};

}  // namespace forebay::scheduler
