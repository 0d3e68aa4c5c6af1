#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace forebay::scheduler {

/// How far a node is from the trainer.
enum class Distance : std::uint8_t {
  kSameProcess,  ///< Its splits never leave the process.
  kSameHost,
  kElsewhere,
};

/// What the head knows of one member.
struct NodeView {
  enum class State : std::uint8_t {
    kJoined,    ///< Has no job yet, or is opening its files.
    kPrepared,  ///< Is leased splits.
    kRefused,   ///< Is leased nothing: `trouble` says why.
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

  std::uint64_t capacity = 0;  ///< Splits that it wants in hand.
  std::uint64_t splits_done = 0;
  double rate = 0;  ///< Splits a second, smoothed over some seconds.
  double busy_cpus = 0;
  std::uint64_t memory_used = 0;
  std::chrono::nanoseconds last_heard = {};
};

/// Smooths counts into a rate: an exponential mean over about `kSpan`. A value.
class RateMeter {
 public:
  static constexpr std::chrono::nanoseconds kSpan = std::chrono::seconds(5);

  /// `count` so far, at `now`. Returns the rate, per second.
  double update(std::uint64_t count, std::chrono::nanoseconds now);
  double rate() const { return rate_; }

 private:
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds since_ = {};
  bool begun_ = false;
  bool measured_ = false;
  double rate_ = 0;
};

/// The members by incarnation, with sums over them. A value; the head's.
class ClusterView {
 public:
  using Nodes = std::map<std::uint64_t, NodeView>;

  Nodes& nodes() { return nodes_; }
  const Nodes& nodes() const { return nodes_; }

  NodeView* find(std::uint64_t incarnation);
  /// The member of this name; there is one at most.
  NodeView* find(const std::string& name);

  std::size_t num_prepared() const;
  /// Splits a second, of all.
  double rate() const;
  /// Of those that make splits and are not in the trainer's process: what an autoscaler can have
  /// more of. 0 while none has made any.
  double mean_remote_rate() const;

 private:
  Nodes nodes_;
};

}  // namespace forebay::scheduler
