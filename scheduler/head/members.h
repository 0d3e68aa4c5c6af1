#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "scheduler/cluster_status.h"
#include "scheduler/head/lease_allowance.h"
#include "scheduler/protocol.h"

namespace forebay::scheduler {

struct HeadOptions;

/// How far a node is from the trainer.
enum class Distance : std::uint8_t {
  kSameProcess,  ///< Its splits stay within the process.
  kSameHost,
  kElsewhere,
};

/// Turns counts into a smoothed rate: an exponential mean over about `kSpan`. A value.
class RateMeter {
 public:
  static constexpr std::chrono::nanoseconds kSpan = std::chrono::seconds(5);

  /// Records that the count is `count` at time `now`. Returns the rate per second.
  double update(std::uint64_t count, std::chrono::nanoseconds now);

 private:
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds since_ = {};
  bool begun_ = false;
  bool measured_ = false;
  double rate_ = 0;
};

/// The head's record of one member.
struct Member {
  using Time = std::chrono::nanoseconds;
  using State = NodeStatus::State;

  NodeStatus node;  ///< What is shown of it; `leases` and `silent_seconds` are not set.
  WorkerRef worker;
  Distance distance = Distance::kElsewhere;
  RateMeter meter;
  Time last_heard = {};
  Time offered = {};                      ///< When the job was last offered to it.
  std::vector<std::uint64_t> holds = {};  ///< Splits, as it last said.
  /// Until its next heartbeat, because its mailbox was full or it gave splits back.
  bool blocked = false;
  bool gone = false;  ///< Its connection has ended for good; it must join again.
  LeaseAllowance allowance;
  std::optional<Time> said_late = {};  ///< When the user was last told that it is late.

  bool may_be_leased() const { return node.state == State::kPrepared && !blocked && !gone; }
};

/// The members of a cluster by incarnation, and which nodes may become one. Decides which node is
/// admitted and which member is lost; the head informs the workers. A value; belongs to the head's
/// thread.
class Members {
 public:
  using Time = Member::Time;
  using Nodes = std::map<std::uint64_t, Member>;

  Nodes& all() { return all_; }
  const Nodes& all() const { return all_; }

  /// Null if there is no such member.
  Member* find(std::uint64_t incarnation);
  const Member* find(std::uint64_t incarnation) const;
  /// The member with this name; names are unique.
  Member* find(const std::string& name);
  /// The member that acts as `incarnation`; null when its membership has ended.
  Member* active(std::uint64_t incarnation);

  /// Says why a node may not join: kInvalid if it never may, kOverloaded if its name is taken. A
  /// member that was refused for the open job leaves its name to a worker of that job: the nodes of
  /// all trainers have one name. `open_job`: its id; "": no job is open.
  Status check(const Join& join, const HeadOptions& options, Time now,
               const std::string& open_job) const;
  /// Remembers a refusal. Returns false if it is the same as the last one of this name.
  bool is_new_refusal(const std::string& name, const std::string& why);

  /// Adds a member that was admitted.
  void add(std::uint64_t incarnation, const Join& join, const HeadOptions& options, Time now);
  void heard(Member& member, const Heartbeat& heartbeat, Time now);

  enum class Gone : std::uint8_t { kLeft, kLost };
  struct Loss {
    std::uint64_t incarnation = 0;
    Gone how = Gone::kLost;
    std::string why;
  };
  /// The members whose connection has ended, or that were silent for `lost_after`. A worker process
  /// exits after its job: without an open job, the end of its connection is not a loss.
  std::vector<Loss> losses(Time now, Time lost_after, bool job_is_open) const;
  /// Removes a member; last_gone() says so from then on.
  void remove(const Loss& loss);
  /// The last worker that left or was lost, and why; empty: none since the job was opened.
  const std::string& last_gone() const { return last_gone_; }

  /// Members from before a restart of the head that have not joined again, and since when.
  std::map<std::string, Time>& awaited() { return awaited_; }
  const std::map<std::string, Time>& awaited() const { return awaited_; }
  /// For another job: no member is ready for it, and earlier losses do not concern it.
  void forget_job();

  std::size_t num_prepared() const;
  /// Splits per second of all members.
  double rate() const;
  /// The mean rate of members that make splits outside the trainer's process. 0 before any of them
  /// has made a split.
  double mean_remote_rate() const;

 private:
  Nodes all_;
  std::map<std::string, Time> awaited_;
  std::map<std::string, std::string> turned_away_;  // Names that were refused, and why.
  std::string last_gone_;
};

}  // namespace forebay::scheduler
