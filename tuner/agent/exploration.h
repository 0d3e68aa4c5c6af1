#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tuner/model/planner.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Directed exploration: tries allocations that the plan would not, when what is seen departs from
/// the expected rate, and always when the rate stays below one that was reached before.
///
/// A *departure* is a rate that stays below what the costs allow while the trainer waits: then
/// something holds the pipeline back that the model cannot say (a window of splits in order, a
/// shared resource, tails, pauses). The *anchor* is the best rate reached under comparable
/// conditions, and its allocation. Tries are rules, in an order that what is seen selects: back to
/// the anchor; more items that may wait, if no stage is busy all the time; more actors of the
/// busiest stages; fewer where a stage has more than it uses. A try lasts some periods, and stays
/// if it was better. By what is believed none costs more than 5 % of the rate; one that turns out
/// to cost more ends with the next decision, and the longer the rest after it. Nothing is tried
/// while the trainer is fed. Proposals go through the guard as all do. A value.
class Exploration {
 public:
  explicit Exploration(PipelineDescription description);

  /// After an interval: `planned`, changed by what earlier tries showed to be better, or by a try.
  Planned next(const Observation& seen, const PipelineEstimate& known, Planned planned);

  /// Whether the last next() was a try.
  bool trying() const { return tried_.has_value(); }
  /// Whether what is seen departs from what the model expects: its lessons do not apply.
  bool departing() const { return departing_; }
  /// What is tried and why, in words; empty if nothing is.
  std::string words() const;
  /// What the try showed that ended in the last next(), in words; empty if none did.
  const std::string& outcome() const { return outcome_; }

 private:
  enum class Move : std::uint8_t {
    kReturn,        // to the anchor
    kPlan,          // what the model plans, where something else is held
    kHalfway,       // between what is held and the plan
    kMorePrefetch,  // beside the actors
    kTrade,         // memory of actors that wait for more prefetch
    kGrowBusiest,   // more of the busiest stage
    kGrowBusy,      // more of all stages that are nearly as busy
    kShrinkIdle,    // fewer where a stage has more than it uses
  };
  static constexpr std::size_t kMoves = 8;

  /// The rate of an allocation that stays the same, without the time in which it took effect.
  struct Window {
    Allocation allocation = {};
    double waited = 0;   // seconds since it changed
    double seconds = 0;  // measured
    double splits = 0;
    double rate() const { return seconds > 0 ? splits / seconds : 0; }
  };
  struct Anchor {
    Allocation allocation = {};
    double rate = 0;
  };
  struct Try {
    Move move = Move::kReturn;
    Allocation allocation = {};
    double rate_before = 0;
  };

  void measure(const Observation& seen, const PipelineEstimate& known);
  void note_change(const Observation& seen, const PipelineEstimate& known);
  void remember();
  void bridge(const Observation& seen);
  void watch_anchor(const Observation& seen);
  bool departs(const Observation& seen, const PipelineEstimate& known) const;
  bool below_anchor() const;
  bool over(const Observation& seen) const;
  void conclude(const Observation& seen);
  void keep(const Observation& seen);
  void give_up(double loss);
  void consider(const Observation& seen, const PipelineEstimate& known);
  void begin_next(const Observation& seen, const PipelineEstimate& known);
  void begin(Move move, const Observation& seen, const PipelineEstimate& known, double rate_now);
  static const char* noun_of(Move move);
  std::optional<Allocation> moved(Move move, const Observation& seen) const;
  Allocation with_prefetch(Allocation allocation, const Observation& seen) const;
  bool bearable(Move move, const Allocation& next, const Observation& seen,
                const PipelineEstimate& known, double rate_now) const;

  PipelineDescription description_;
  Limits limits_{.cpus = 0};
  Window window_;
  double settling_ = 0;  // seconds until a change has taken effect
  std::optional<Anchor> anchor_;
  std::optional<Try> tried_;
  std::string outcome_;
  Planned planned_;  // now
  std::array<bool, kMoves> failed_{};
  bool departing_ = false;
  std::uint32_t prefetch_ = 0;      // wanted
  std::uint32_t won_prefetch_ = 0;  // of that, measured to be better
  std::optional<Allocation> held_;  // was better than the plan
  double stalled_ = 0;              // seconds with no stage busy and a trainer that waits
  double stalled_splits_ = 0;       // in them
  double since_change_ = 0;         // seconds since the work last changed
  double low_ = 0;                  // seconds below the anchor
  double low_splits_ = 0;           // in them
  double held_rate_ = 0;            // splits/s that held_ brought
  double at_seconds_ = 0;           // of the last observation
  double since_pause_ = 1e9;        // seconds since the trainer paused
  double pause_length_ = 0;         // seconds of the last pause
  double waiting_rate_ = 0;         // splits/s without stock, while the trainer waited
  double rest_ = 0;                 // seconds until the next try
  double pause_ = 0;                // the rest after all moves failed; doubles
  double pace_ = 1;                 // PipelineEstimate::pace
};

}  // namespace forebay::tuner
