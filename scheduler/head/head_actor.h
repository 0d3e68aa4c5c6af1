#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/runtime/actor.h"
#include "core/store/journaled.h"
#include "scheduler/head/head_options.h"
#include "scheduler/head/head_state.h"
#include "scheduler/head/lease_table.h"
#include "scheduler/head/members.h"
#include "scheduler/head/straggler.h"
#include "scheduler/protocol.h"

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

/// Manages the members and assigns splits to workers (design/cluster.md).
///
/// Owns the members, the leases and the journal. State that must survive goes through the journal
/// and is on disk before the head sends any message about it. Its handlers block for that sync, so
/// give it a thread of its own where the disk is slow. Refuses workers of another version, messages
/// of an earlier incarnation or session, and a second job while the first one's trainer lives or
/// may come back. Its owner sends BeginHead once.
class HeadActor final
    : public ActorOf<HeadActor, Join, Prepared, Heartbeat, GiveBack, Leave, OpenJob, Issue, Arrived,
                     Finished, CloseJob, BeginHead, HeadTick, QueryCluster, SaveLearnedState,
                     FindLearnedState, Down> {
 public:
  using Journal = Journaled<HeadState>;
  using Time = std::chrono::nanoseconds;

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
  const HeadState& state() const { return journal_->state(); }
  Status commit(const HeadState::Event& event);
  Status check_session(std::uint64_t session) const;
  Status check_place(const JobShare& job) const;
  void offer_job(Member& member, Context& context);
  void adopt_held(Time now);
  bool split_client_is_there() const { return split_client_.receiver() != nullptr; }

  /// Whether this process was paused since the last tick.
  bool slept(Time now) const { return now - last_tick_ > lost_after_ / 2; }

  void lease_out(Context& context);
  void lease_to(Member& member, std::uint64_t count, Context& context);
  bool may_lease();
  void reissue_straggler(Context& context);
  void judge(std::uint64_t split, const LeaseTable::Ended& ended, Context& context);
  void let_hold_less(Member& member, std::vector<std::uint64_t> held, Context& context);

  Status remove(const Members::Loss& loss, Context& context);
  void refuse(Member& member, const std::string& why, Context& context);
  void lose_the_gone(Time now, Context& context);
  void close_abandoned_job(Time now, Context& context);
  void end_job(const std::string& error, Context& context);
  void say_if_ended(const Join& join, Context& context);
  void say(const std::string& sentence) const;

  const std::shared_ptr<Journal> journal_;
  const HeadOptions options_;
  const Time lost_after_;
  Members members_;
  LeaseTable leases_;
  UsualTime usual_;
  LowestWatch lowest_;
  SplitClientRef split_client_;
  std::string split_client_address_;
  std::optional<Time> split_client_gone_since_;  // Set while an open job has no split client.
  std::string ended_error_;                      // Of the job that ended last, since the start.
  std::string store_error_;                      // Why the store cannot be written; empty: it can.
  std::optional<Time> no_worker_since_;
  Time last_tick_ = {};
  std::uint64_t issued_again_ = 0;
  std::uint32_t min_workers_ = 0;  // of the job
  bool enough_workers_ = false;    // They were present once.
};

}  // namespace forebay::scheduler
