#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/actor.h"
#include "core/store/journaled.h"
#include "scheduler/cluster_status.h"
#include "scheduler/cluster_view.h"
#include "scheduler/head_state.h"
#include "scheduler/lease_table.h"
#include "scheduler/placement.h"
#include "scheduler/protocol.h"
#include "scheduler/straggler.h"

namespace forebay::scheduler {

/// Owner → head: begin. Sent once, right after the spawn.
struct BeginHead {
  static constexpr std::string_view kTag = "head.begin/1";
};

/// Head → itself, once a heartbeat.
struct HeadTick {
  static constexpr std::string_view kTag = "head.tick/1";
};

/// Tuner → head: save this for the next run. Answered when it is on disk.
struct SaveLearnedState {
  static constexpr std::string_view kTag = "head.keep_experience/1";
  std::string key;
  std::string text;
};

/// Tuner → head: request the state saved under `key`; kNotFound if there is none.
struct FindLearnedState {
  static constexpr std::string_view kTag = "head.find_experience/1";
  using Reply = std::string;
  std::string key;
};

struct HeadOptions {
  std::chrono::nanoseconds lease = std::chrono::seconds(5);
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  std::uint32_t lost_after = 6;  ///< Heartbeats.
  /// How long a job waits for its trainer to return, and a head for its former workers.
  std::chrono::nanoseconds rejoin = std::chrono::seconds(60);
  PlacementPolicy placement = PlacementPolicy::kSpread;
  StragglerRule straggler;
  std::string version;       ///< The version that workers must have; empty: any.
  std::string operators;     ///< The operators that workers must have; empty: any.
  std::string trainer_host;  ///< The trainer's host, for `near`; empty: unknown.
  std::uint64_t trainer_pid = 0;
  /// Called with a sentence for each event: a worker joins, is lost or is refused. On the head's
  /// thread.
  std::function<void(const std::string&)> say;
};

/// Manages the members and assigns splits to workers (DESIGN.md, "Many machines").
///
/// Owns the members, the leases and the journal. State that must survive goes through the journal
/// and is on disk before the head sends any message about it. Its handlers block for that sync, so
/// give it a thread of its own where the disk is slow. Refuses workers of another version, messages
/// of an earlier incarnation or session, and a second job while the first one's trainer lives. Its
/// owner sends BeginHead once.
class HeadActor final
    : public ActorOf<HeadActor, Join, Prepared, Heartbeat, GiveBack, Leave, OpenJob, Issue, Arrived,
                     Finished, CloseJob, BeginHead, HeadTick, QueryCluster, SaveLearnedState,
                     FindLearnedState, Down> {
 public:
  using Journal = Journaled<HeadState>;
  using Time = std::chrono::nanoseconds;
  static constexpr std::uint64_t kMostIssued = 1 << 20;  ///< At once; a window has thousands.

  /// The caller opens `journal`, so that errors of the store are known before the head starts.
  HeadActor(std::shared_ptr<Journal> journal, HeadOptions options);

  Result<Accepted> on(const Join& join, Context& context);
  Status on(const Prepared& prepared, Context& context);
  Status on(const Heartbeat& heartbeat, Context& context);
  Status on(const GiveBack& back, Context& context);
  Status on(const Leave& leave, Context& context);
  Result<JobOpened> on(const OpenJob& open, Context& context);
  Status on(const Issue& issue, Context& context);
  Status on(const Arrived& arrived, Context& context);
  Status on(const Finished& finished, Context& context);
  Status on(const CloseJob& close, Context& context);
  Status on(const BeginHead& begin, Context& context);
  Status on(const HeadTick& tick, Context& context);
  Result<ClusterStatus> on(const QueryCluster& query, Context& context);
  Status on(const SaveLearnedState& keep, Context& context);
  Result<std::string> on(const FindLearnedState& find, Context& context);
  Status on(const Down& down, Context& context);

 private:
  struct Member {
    WorkerRef worker;
    RateMeter meter;
    // Until its next heartbeat, because its mailbox was full or it gave splits back.
    bool blocked = false;
    bool gone = false;  // Its connection has ended for good; it must join again.
    Time offered = {};  // When the job was last offered to it.
  };

  const HeadState& state() const { return journal_->state(); }
  Status commit(const HeadState::Event& event);
  Status check_newcomer(const Join& join, Time now) const;
  Status check_session(std::uint64_t session) const;
  NodeView* member(std::uint64_t incarnation);
  void offer_job(std::uint64_t incarnation, Context& context);
  bool split_client_is_there() const { return split_client_.receiver() != nullptr; }

  void lease_out(Context& context);
  void lease_to(std::uint64_t incarnation, std::uint64_t count, Context& context);
  bool reachable(std::uint64_t incarnation) const;
  bool may_lease();
  void reissue_straggler(Context& context);
  void revoke(std::uint64_t incarnation, std::vector<std::uint64_t> splits, Context& context);

  enum class Gone : std::uint8_t { kLeft, kLost };
  Status remove(std::uint64_t incarnation, Gone how, const std::string& why, Context& context);
  void refuse(NodeView& node, const std::string& why, Context& context);
  void say_refused(const std::string& name, const std::string& why);
  void lose_the_gone(Time now, Context& context);
  void close_abandoned_job(Time now, Context& context);
  void end_job(const std::string& error, Context& context);
  void say(const std::string& sentence) const;
  std::vector<std::string> problems(Time now) const;
  std::string why_nothing_is_made(Time now) const;

  const std::shared_ptr<Journal> journal_;
  const HeadOptions options_;
  const Time lost_after_;
  ClusterView view_;
  std::map<std::uint64_t, Member> members_;  // Has the same keys as view_.
  LeaseTable leases_;
  UsualTime usual_;
  SplitClientRef split_client_;
  std::string split_client_address_;
  std::optional<Time> split_client_gone_since_;  // Set while an open job has no split client.
  std::map<std::string, Time> awaited_;          // Members from before a restart, and since when.
  std::string store_error_;                      // Why the store cannot be written; empty: it can.
  std::string last_gone_;                        // The last worker that left or was lost, and why.
  std::map<std::string, std::string> turned_away_;  // Names that were refused, and why.
  std::optional<Time> no_worker_since_;
  Time last_tick_ = {};
  std::uint64_t issued_again_ = 0;
  std::uint32_t min_workers_ = 0;  // of the job
  bool enough_workers_ = false;    // They were present once.
};

}  // namespace forebay::scheduler
