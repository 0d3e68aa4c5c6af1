#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// A split that a node of a world has made.
struct MadeSplit {
  std::uint64_t key = 0;  ///< Its number.
  std::size_t node = 0;
  double ready = 0;  ///< When it had its place in the prefetch queue, in seconds since the start.
};

/// The trainer of a world and its prefetch queue: an actor that takes a split and sleeps for a
/// step.
///
/// A node asks for a place in the queue before it hands over a split; places are given in the order
/// of the questions. With order every split that was started has its place, and the trainer takes
/// splits by number. Any thread may call it; callbacks run on the thread that causes them, without
/// a lock. Does not own the machine, which must be stopped before the trainer is destroyed.
class ModelledTrainer {
 public:
  struct Options {
    const tuner::PipelineModel& model;
    tuner::MachineThread& machine;
    const Clock& clock;
    /// Called when the trainer takes a split, with its number and the time.
    std::function<void(std::uint64_t number, double at)> on_take;
    /// Called when the queue has changed, and when the trainer finds it empty.
    std::function<void()> on_move;
    std::function<void()> on_empty;
  };
  /// Receives the time at which a place became free, in seconds since the start.
  using Granted = std::function<void(double at)>;

  explicit ModelledTrainer(Options options);
  ~ModelledTrainer();
  ModelledTrainer(const ModelledTrainer&) = delete;
  ModelledTrainer& operator=(const ModelledTrainer&) = delete;

  /// Calls `granted` once there is a place for a split of `node`, which is ready since `at`.
  void ask_place(std::size_t node, double at, Granted granted);
  /// Takes a split that has a place.
  void arrived(const MadeSplit& made);
  /// Gives back the places of a lost node and drops its questions. Call it when the node asks no
  /// more.
  void forget(std::size_t node);
  void set_prefetch(std::uint32_t splits);

  /// Splits in the queue, those on their way to a place there included.
  std::uint32_t queued() const;
  std::uint32_t prefetch() const;

  /// Sums since the start.
  struct Totals {
    std::uint64_t trained = 0;
    double step_seconds = 0;
    double wait_seconds = 0;
  };
  Totals totals() const;
  Totals totals_of(std::size_t node) const;

  void cancel() { pool_->cancel(); }
  /// Call it after cancel() and the machine's stop().
  void join() { pool_->join(); }

 private:
  class Actor;
  struct Question {
    std::size_t node = 0;
    double at = 0;
    Granted granted;
  };
  using Grants = std::vector<std::pair<Granted, double>>;

  void take(const MadeSplit& made, double at);
  void trained(const MadeSplit& made, const tuner::WorkItem& work, double waited);
  /// Gives free places to those that wait, since `at`. Under the lock.
  void grant_locked(double at, Grants& grants);
  std::uint32_t taken_locked() const;
  static void tell(const Grants& grants);

  const Options options_;
  const bool ordered_;
  Synchronized<> serial_;  // guards the members below
  std::uint32_t prefetch_;
  std::uint32_t queued_ = 0;                    // arrived and not taken
  std::vector<std::uint32_t> on_their_way_;     // places given and not used yet, by node
  std::deque<Question> waiting_;                // for a place, the longest first
  std::vector<Totals> totals_;                  // by node
  std::unique_ptr<StagePool<MadeSplit>> pool_;  // of one actor; its mailbox is the queue
};

}  // namespace forebay
