#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace forebay::scheduler {

/// How far a node is from the trainer.
enum class Distance : std::uint8_t {
  kSameProcess,  ///< Its splits stay within the process.
  kSameHost,
  kElsewhere,
};

/// The head's record of one member.
struct NodeView {
  enum class State : std::uint8_t {
    kJoined,    ///< Has no job yet, or is opening the job's files.
    kPrepared,  ///< May be leased splits.
    kRefused,   ///< Is leased no splits: `trouble` says why.
  };

  std::uint64_t incarnation = 0;
  std::string name;
  std::string host;
  std::uint64_t pid = 0;
  double cpus = 0;
  std::uint64_t memory_limit = 0;
  Distance distance = Distance::kElsewhere;
  State state = State::kJoined;
  std::string trouble;

  std::uint64_t capacity = 0;  ///< Splits that it wants to hold at a time.
  std::uint64_t splits_done = 0;
  double rate = 0;  ///< Splits per second, smoothed over several seconds.
  double busy_cpus = 0;
  std::uint64_t memory_used = 0;
  std::chrono::nanoseconds last_heard = {};
};

/// Turns counts into a smoothed rate: an exponential mean over about `kSpan`. A value.
class RateMeter {
 public:
  static constexpr std::chrono::nanoseconds kSpan = std::chrono::seconds(5);

  /// Records that the count is `count` at time `now`. Returns the rate per second.
  double update(std::uint64_t count, std::chrono::nanoseconds now);
  double rate() const { return rate_; }

 private:
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds since_ = {};
  bool begun_ = false;
  bool measured_ = false;
  double rate_ = 0;
};

/// The members by incarnation, with sums over them. A value of the head.
class ClusterView {
 public:
  using Nodes = std::map<std::uint64_t, NodeView>;

  Nodes& nodes() { return nodes_; }
  const Nodes& nodes() const { return nodes_; }

  NodeView* find(std::uint64_t incarnation);
  /// The member with this name; names are unique.
  NodeView* find(const std::string& name);

  std::size_t num_prepared() const;
  /// Splits per second of all members.
  double rate() const;
  /// The mean rate of members that make splits outside the trainer's process, which an autoscaler
  /// can add more of. 0 before any of them has made a split.
  double mean_remote_rate() const;

 private:
  Nodes nodes_;
};

}  // namespace forebay::scheduler
