#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/runtime/pool/pool_engine.h"

namespace forebay {

/// How two pools that hand splits on spent an interval.
struct HandOver {
  double seconds = 0;    ///< The interval's length.
  double blocked = 0;    ///< Share of the producers' time in which they waited for space.
  double starved = 0;    ///< Share of the consumers' time in which they waited for a split.
  double idle_cpus = 0;  ///< Share of the CPUs that stood idle.
  double fill = 0;       ///< Share of the mailbox that was full at the end.
};

/// How much may wait between two pools: a multiple of the usual mailbox.
///
/// One or two splits that wait stay warm in the cache, and suffice where both sides work evenly.
/// Where one side works in bursts (a disk that answers from its cache and then for a while does
/// not), producers wait for space at one moment and consumers for splits at the next, though CPUs
/// are idle at both. Then twice as much may wait. A queue is halved again
/// if half of it stays empty, or if all CPUs work in any case. A value.
class QueueDepth {
 public:
  static constexpr std::uint32_t kMost = 32;

  void observe(const HandOver& interval);
  std::uint32_t times() const { return times_; }

 private:
  void become(std::uint32_t times);

  std::uint32_t times_ = 1;
  double blocked_ = 0;  // means, older intervals fading
  double starved_ = 0;
  double idle_cpus_ = 0;
  double seconds_ = 0;      // since times_ changed
  double most_filled_ = 0;  // since then
  double saturated_ = 0;    // seconds in which no CPU was idle
};

/// The depths of the mailboxes between a job's stages, by how the pools' actors wait. A value.
class StageQueues {
 public:
  /// With so many CPUs; 0: unknown, and no mailbox gets more than usual.
  StageQueues(std::size_t stages, double cpus) : cpus_(cpus), depths_(stages), last_(stages) {}

  /// What the pools of all stages show at one moment.
  struct Reading {
    std::chrono::nanoseconds at{0};
    std::chrono::nanoseconds cpu{0};  ///< Used by the process so far.
    std::span<const PoolStats> pools;
    /// The first stages of groups, in order: the pools that have actors.
    std::span<const std::size_t> firsts;
  };

  /// Whether enough time has passed since the last reading.
  bool due(std::chrono::nanoseconds now) const;
  void observe(const Reading& reading);

  /// By how much the mailbox before a stage is multiplied; 1 for the first one.
  std::uint32_t times(std::size_t stage) const { return depths_[stage].times(); }
  /// The mailboxes that may wait beyond the usual ones, over all stages.
  std::uint64_t deepened() const;

 private:
  double cpus_;
  std::vector<QueueDepth> depths_;
  std::vector<ActorTotals> last_;
  std::chrono::nanoseconds at_{0};
  std::chrono::nanoseconds cpu_{0};
  bool began_ = false;
};

}  // namespace forebay
