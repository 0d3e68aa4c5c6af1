#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "tuner/sim/memory_account.h"
#include "tuner/sim/noise.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"
#include "tuner/sim/world_state.h"
#include "tuner/tuned_pipeline.h"
#include "tuner/world/line_state.h"
#include "tuner/world/modelled_world.h"
#include "tuner/world/shared_speeds.h"

namespace forebay::tuner {

/// A modelled pipeline with all that README.md here describes, as a discrete-event simulation.
///
/// Deterministic: the same model, seed and calls give the same results to the bit. One thread.
class WorldSimulator final : public ModelledWorld {
 public:
  /// Begins with `first`, so that no split is made by fewer actors; nullopt: one actor each.
  WorldSimulator(const PipelineModel& model, std::uint64_t seed,
                 const std::optional<Allocation>& first = {});
  WorldSimulator(const WorldSimulator&) = delete;
  WorldSimulator& operator=(const WorldSimulator&) = delete;

  void run_until(double seconds) override;
  const PipelineDescription& description() const override { return description_; }
  CurrentState current() const override;
  /// Ends the intervals of all nodes, too.
  Observation observe() override;
  void apply(const Allocation& allocation) override;
  SimTotals totals() const override;

  std::size_t nodes() const override { return nodes_.size(); }
  double now() const override { return now_; }
  double paused_seconds() const override { return counts().pause_seconds; }
  bool present(std::size_t node) const override { return nodes_[node].present; }
  PipelineDescription description_of(std::size_t node) const override;
  CurrentState current_of(std::size_t node) const override;
  Observation observe_node(std::size_t node) override;
  void apply_to(std::size_t node, const Allocation& allocation) override;
  void set_fed(std::size_t node, bool fed) override;
  NodeTotals totals_of(std::size_t node) const override;

  bool fed(std::size_t node) const { return nodes_[node].fed; }
  bool out_of_memory() const { return out_of_memory_; }

 private:
  /// Sums since the start of the trainer's doing.
  struct TrainerCounts {
    std::uint64_t steps = 0;
    double step_seconds = 0;
    double wait_seconds = 0;
    double pause_seconds = 0;
    std::uint64_t prefetch_full = 0;
    std::uint64_t prefetch_empty = 0;
  };
  enum class TrainerDoes : std::uint8_t { kWaits, kWorks, kPauses };
  /// A split behind the last stage.
  struct Made {
    std::uint64_t number = 0;
    std::size_t node = 0;
  };
  struct Later {
    bool operator()(const Made& a, const Made& b) const { return a.number > b.number; }
  };
  struct Crossing {
    double end = 0;  // On the link's clock.
    std::uint64_t number = 0;
  };
  /// The bytes that each split on the link has crossed with, as a clock, and the splits.
  struct Link {
    double rate = 0;
    double clock = 0;
    double since = 0;
    std::deque<Crossing> crossing = {};
    std::deque<std::uint64_t> crossed = {};  // Wait for room in the prefetch queue.
    std::size_t count() const { return crossing.size() + crossed.size(); }
  };
  struct Node {
    MemoryAccount memory;
    Limits limits;
    bool trainer = false;
    bool present = true;
    bool fed = true;
    bool has_link = false;
    Link link = {};
    double interval_start = 0;
    std::uint64_t trained = 0;
    double step_seconds = 0;
    TimeSum full_time = {};  // An actor of the last stage waits to hand over.
    std::uint64_t trained_before = 0;
    double step_seconds_before = 0;
    TrainerCounts before = {};
  };
  /// A split that has no room in the prefetch queue: it has crossed a link, or an actor holds it.
  struct Waiting {
    std::size_t node;
    bool crossed;
  };

  // world_simulator.cpp: what others ask.
  TrainerCounts counts() const;
  void finish_observation(Observation& seen, const TrainerCounts& since) const;
  std::uint64_t behind(const LineState& line) const;
  std::uint64_t places_taken() const;  // In the prefetch queue.
  double at(const LineState& line) const { return now_ - nodes_[line.node].interval_start; }
  std::size_t line_at(std::size_t node, std::size_t stage) const { return node * stages_ + stage; }
  std::size_t last_line(std::size_t node) const { return line_at(node, stages_ - 1); }
  bool is_last(const LineState& line) const { return line.stage + 1 == stages_; }

  // world_events.cpp: splits move.
  void happen(std::size_t what);
  void settle();
  void finish(std::size_t line);
  bool put_out(std::size_t line, std::uint64_t number);
  bool deliver(const Made& made);
  void prefetch(const Made& made);
  void fill_prefetch();
  void take_from(std::size_t line);
  void unblock(std::size_t line);
  std::uint64_t take_blocked(std::size_t line);
  void release(std::size_t line);
  void feed();
  std::size_t least_busy_loader() const;
  void wake_loaders(std::size_t node);
  void begin(std::size_t line, std::uint64_t number);
  void start_spaced(std::size_t line);
  void plan_start(std::size_t line);
  void start(std::size_t line, double taken, std::uint64_t number);
  void end_startup(std::size_t line);
  void foresee(std::size_t line) { next_[lines_at_ + line] = lines_[line].next_end(); }
  bool take_next();
  void train(const Made& made);
  void finish_training();
  void trainer_does(TrainerDoes what);
  void toggle_pause();
  void put_on_link(std::size_t node, std::uint64_t number);
  void advance_link(std::size_t node);
  void cross(std::size_t node);

  // world_nodes.cpp: actors and nodes come and go, limits change.
  void happen_outside();
  void refresh();
  void refresh_node(std::size_t node);
  void refresh_line(LineState& line);
  void add_link(std::size_t node);
  void enforce_memory();
  void lose(std::size_t node);
  void lose_line(std::size_t line);
  void bring_back(std::size_t node);
  void begin_with(const Allocation& first);
  void resize(std::size_t line, std::uint32_t wanted, bool growing);
  void shrink(LineState& line, std::uint32_t wanted);
  void grow(std::size_t line, std::uint32_t wanted);
  void leave(LineState& line);
  void remove_actors(LineState& line, std::uint32_t count);
  void set_prefetch(std::uint32_t items);
  void take_memory(std::size_t node, std::uint64_t bytes);

  PipelineModel file_;
  WorldState state_;
  PipelineDescription description_;
  std::size_t stages_;
  bool ordered_;
  SharedSpeeds speeds_;
  NormalSource normal_;
  Random tails_;
  std::vector<Node> nodes_;
  std::vector<LineState> lines_;
  std::size_t own_;  // The trainer's node.

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  // Indexes into next_, the moments of what can happen next.
  static constexpr std::size_t kOutside = 0;
  static constexpr std::size_t kPause = 1;
  static constexpr std::size_t kTrainer = 2;
  std::size_t lines_at_ = 3;
  std::size_t links_at_;
  std::size_t starts_at_;
  std::size_t startups_at_;
  std::vector<double> next_;

  double now_ = 0;
  bool out_of_memory_ = false;

  TrainerDoes doing_ = TrainerDoes::kWaits;
  bool pausing_ = false;  // Takes nothing, even if it still works on a split.
  double doing_since_ = 0;
  double step_seconds_ = 0;
  Made in_training_ = {};
  TrainerCounts counts_ = {.prefetch_empty = 1};
  TrainerCounts before_ = {};

  std::uint32_t capacity_ = 0;         // Of the prefetch queue.
  std::deque<Made> prefetched_;        // With order: a heap, the lowest number first.
  std::deque<Waiting> waiting_;        // For room in it, the longest first.
  std::vector<std::uint64_t> remade_;  // With order: lost numbers, a heap, the lowest first.
  std::uint64_t next_number_ = 0;      // The trainer takes next.
  std::uint64_t fresh_number_ = 0;     // Nobody has started yet.

  std::uint64_t steps_ = 0;
};

/// Makes WorldSimulators.
WorldMaker simulated_worlds();

/// Starts the simulator that the model needs: a WorldSimulator for a world, else a Simulator.
std::unique_ptr<ModelledPipeline> simulator_for(const PipelineModel& model, std::uint64_t seed);

}  // namespace forebay::tuner
