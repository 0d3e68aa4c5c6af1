#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tuner/sim/cpu_share.h"
#include "tuner/sim/memory_account.h"
#include "tuner/sim/noise.h"
#include "tuner/sim/simulator.h"
#include "tuner/sim/stage_state.h"

namespace forebay::tuner {

/// The trainer: takes a split, works a step, takes the next split.
struct TrainerState {
  double step_seconds = 0;
  double step_in_work = 0;  // Seconds of the step in work.
  bool waiting = true;
  TimeSum waiting_time;
  std::uint64_t steps = 0;
  double worked = 0;
  std::uint64_t found_empty = 0;
  std::uint64_t became_full = 0;

  void restart() {
    waiting_time.restart();
    steps = found_empty = became_full = 0;
    worked = 0;
  }
};

/// The next event is the least of a few moments: a stage's next split ends (`next[stage]`), the
/// trainer's step ends, an outside event happens, a spaced start is due.
struct Simulator::State {
  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

  State(const PipelineModel& described, std::uint64_t seed);

  StageState& last() { return stages.back(); }

  void run_until(double seconds);
  void happen(std::size_t what);

  /// Updates the CPU shares; if no split replaced the one that ended, the stage has one fewer at
  /// work.
  void share_cpus();
  void foresee(std::size_t i);
  void finish(std::size_t i);

  /// Hands a finished split on; returns false if there is no space for it.
  bool put_out(std::size_t i);
  bool hand_to_idle(StageState& stage, std::size_t i);
  bool hand_to_trainer();
  void enqueue(StageState& stage);
  void dequeue(StageState& stage);

  /// Takes a split from the queue after stage i, if there is one. An actor that waited for space in
  /// that queue then puts its own split in and continues, and so on upstream.
  bool take_from(std::size_t i);
  void unblock(std::size_t i);

  /// An actor of stage i holds no split: it leaves if it was asked to, else takes a split, else
  /// waits for one.
  void release(std::size_t i);
  void leave(StageState& stage);
  void remove_actors(StageState& stage, std::uint32_t count);

  /// An actor of stage i starts to work on a split.
  void begin(std::size_t i);
  void start_spaced(std::size_t i);
  void plan_start(std::size_t i);
  void start(std::size_t i, double taken);
  void train();
  void finish_training();
  void happen_outside();
  void obey(const ModelEvent& event);
  void obey(const ModelEvent& event, std::size_t i);
  std::uint64_t leaving_bytes() const;
  void apply(const Allocation& allocation);
  void shrink(StageState& stage, std::uint32_t wanted);
  void grow(std::size_t i, std::uint32_t wanted);
  void set_prefetch(std::uint32_t items);

  PipelineModel model;
  PipelineDescription description;
  CpuShare cpus;
  MemoryAccount memory;
  NormalSource normal;
  std::vector<StageState> stages;
  TrainerState trainer;
  std::size_t trainer_at;
  std::size_t outside_at;
  std::size_t starts_at;
  std::vector<double> next;

  double now = 0;
  double at = 0;  // Since the interval's start.
  double interval_start = 0;
  std::size_t events_seen = 0;
  std::size_t vacated = kNobody;  // The stage whose top split ended and was not replaced yet.
  double limits_cpus = model.cpus;

  std::uint64_t trained = 0;
  std::uint64_t steps = 0;
  double cpu_before = 0;  // CPU seconds of earlier intervals.
  double wait_before = 0;
};

}  // namespace forebay::tuner
