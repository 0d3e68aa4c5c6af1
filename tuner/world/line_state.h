#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "tuner/sim/noise.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/stage_state.h"
#include "tuner/tuned_pipeline.h"
#include "tuner/world/shared_speeds.h"

namespace forebay::tuner {

/// A split in work in a world.
struct WorldService {
  double work = 0;   ///< Seconds it takes alone: T.
  double taken = 0;  ///< When its actor took it.
  double cpu = 0;    ///< The line's CPU clock when it began.
  double ready = 0;  ///< The line's clock of waiting for a CPU when it began.
  std::uint64_t number = 0;
  std::uint32_t actors = 0;
};

/// One stage on one node: its actors by state, the queue after it, and the sums of the interval.
/// Times are absolute, but for TimeSum's.
struct LineState {
  LineState(const StageModel& stage, std::size_t of_node, std::size_t of_stage);

  /// Brings the clocks up to `now`; before every change of the splits in work or of their speed.
  void advance(double now);
  void set_speed(const SharedSpeeds::Speed& to) { speed = to; }
  /// When the next split ends, if nothing changes.
  double next_end() const;
  double drawn(NormalSource& normal, Random& tails) const;

  void set_alive(std::uint32_t number, double at);
  std::uint32_t staying() const { return alive - leaving; }
  void update_mean() { mean = cost.seconds_with(alive); }
  void record(const WorldService& service, double now);
  /// The observation of an interval of length `at`; `behind` splits wait after this stage.
  StageObservation observation(double at, std::uint64_t behind) const;
  double cpu_seconds(double now) const {
    return cpu_used + static_cast<double>(in_work.size()) * (now - since) * speed.speed * speed.cpu;
  }
  void restart();

  std::size_t node;
  std::size_t stage;
  StageCost cost;  // `seconds` with the node's factor.
  LogNormal noise;
  std::optional<TailModel> tail;
  double start_seconds;
  double gap = 0;
  double mean = 0;
  std::uint64_t bytes_per_actor;
  std::uint64_t bytes_out;

  std::uint32_t alive = 0;
  std::uint32_t leaving = 0;
  std::uint32_t exempt = 0;
  std::uint32_t idle = 0;
  std::uint32_t wanted = 1;           // What was asked for; counts while the node is lost.
  std::uint32_t capacity = 0;         // Of the queue after it.
  std::deque<double> starting;        // When the actors that start up are ready.
  std::deque<std::uint64_t> queue;    // Numbers of the splits in the queue after it.
  std::deque<std::uint64_t> blocked;  // Of the finished splits that wait for space there.
  struct Taken {
    double at;
    std::uint64_t number;
  };
  std::deque<Taken> not_started;  // By actors that wait for their start.
  double last_start = -std::numeric_limits<double>::infinity();
  WorkHeap<WorldService> in_work;

  SharedSpeeds::Speed speed;
  double since = 0;
  double clock = 0;        // Seconds of work done by a split that is always in work.
  double cpu_clock = 0;    // Of that, on a CPU, and
  double ready_clock = 0;  // the time such a split waited for a CPU.
  double cpu_used = 0;     // By all splits.

  TimeSum alive_time;
  TimeSum idle_time;
  TimeSum starting_time;
  TimeSum blocked_time;
  TimeSum queued_time;
  StageObservation sums;
  double cpu_before = 0;  // cpu_used when the interval began.
};

}  // namespace forebay::tuner
