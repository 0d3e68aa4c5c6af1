#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "tuner/sim/cpu_share.h"
#include "tuner/sim/memory_account.h"
#include "tuner/sim/noise.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/stage_state.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Sums since the start, for figures; a policy sees only Observation.
struct SimTotals {
  double seconds = 0;
  std::uint64_t trained = 0;  ///< Splits the trainer finished.
  std::uint64_t steps = 0;    ///< Splits through stages: measures the simulator's own speed.
  double trainer_wait_seconds = 0;
  double cpu_seconds = 0;  ///< CPU time of all stages.
  std::uint64_t memory_peak = 0;
  bool out_of_memory = false;
};

/// A modelled pipeline that runs, in simulated or in real time.
class ModelledPipeline : public TunedPipeline {
 public:
  /// Runs until `seconds` since its start; in real time possibly a little longer.
  virtual void run_until(double seconds) = 0;
  virtual SimTotals totals() const = 0;
};

/// Starts a modelled pipeline, with one actor per stage. Any thread may call it.
using MachineMaker = std::function<std::unique_ptr<ModelledPipeline>(const PipelineModel& model,
                                                                     std::uint64_t seed)>;

/// Returns a maker of simulators: no waiting, deterministic by seed.
MachineMaker simulated_machines();

/// The trainer: takes a split, works a step, takes the next split.
struct TrainerState {
  double step_seconds = 0;
  double step_in_work = 0;  // Seconds of the step in work.
  bool waiting = true;
  TimeSum waiting_time;
};

/// A modelled pipeline as a discrete-event simulation, exact in the semantics of README.md here.
///
/// Deterministic: the same model, seed and calls give the same results to the bit. One thread.
/// After running out of memory it stands still. Guarded callers go through Guard; apply() accepts
/// every allocation with at least one actor per stage, even an illegal one, for policies without a
/// guard.
///
/// The next event is the least of a few moments: a stage's next split ends (`next_[stage]`), the
/// trainer's step ends, an outside event happens, a spaced start is due.
class Simulator final : public ModelledPipeline {
 public:
  Simulator(const PipelineModel& model, std::uint64_t seed);
  /// A copy continues independently, with the same random numbers ahead.
  Simulator(const Simulator& other) = default;
  Simulator& operator=(const Simulator&) = delete;

  void run_until(double seconds) override;

  const PipelineDescription& description() const override { return description_; }
  CurrentState current() const override;
  Observation observe() override;
  void apply(const Allocation& allocation) override;

  double now() const { return now_; }
  bool out_of_memory() const { return memory_.exceeded(); }
  SimTotals totals() const override;

 private:
  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

  StageState& last() { return stages_.back(); }
  const StageState& last() const { return stages_.back(); }
  Limits limits() const { return {.cpus = limits_cpus_, .memory_bytes = memory_.limit()}; }

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
  void shrink(StageState& stage, std::uint32_t wanted);
  void grow(std::size_t i, std::uint32_t wanted);
  void resize(const Allocation& allocation);
  void set_prefetch(std::uint32_t items);

  PipelineModel model_;
  PipelineDescription description_;
  CpuShare cpus_;
  MemoryAccount memory_;
  NormalSource normal_;
  std::vector<StageState> stages_;
  TrainerState trainer_;
  Observation sums_;  // Of the interval: the trainer's steps, and how often the prefetch was full.
  std::size_t trainer_at_;
  std::size_t outside_at_;
  std::size_t starts_at_;
  std::vector<double> next_;

  double now_ = 0;
  double at_ = 0;  // Since the interval's start.
  double interval_start_ = 0;
  std::size_t events_seen_ = 0;
  std::size_t vacated_ = kNobody;  // The stage whose top split ended and was not replaced yet.
  double limits_cpus_ = model_.cpus;

  std::uint64_t trained_ = 0;
  std::uint64_t steps_ = 0;
  double cpu_before_ = 0;  // CPU seconds of earlier intervals.
  double wait_before_ = 0;
};

}  // namespace forebay::tuner
