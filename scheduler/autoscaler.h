#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/demand_meter.h"
#include "scheduler/fewest_search.h"
#include "scheduler/marginal_gain.h"
#include "scheduler/missing_workers.h"
#include "scheduler/scale_input.h"

namespace forebay::scheduler {

struct ScaleDecision {
  std::uint32_t workers = 0;
  std::string why;     ///< One line for the log.
  bool again = false;  ///< Ask the launcher once more, though for the same number.
};

/// Decides the number of workers: the fewest that feed the trainer, and no worker that changes
/// nothing (design/cluster.md says how).
///
/// Grows only while the trainer waits and every worker is busy, to what the workers' own capacities
/// say. Measures what each growth brought: where more workers bring no more splits, a link, a store
/// or a disk is the limit, and it looks for the fewest workers that bring the same. Shrinks when
/// fewer would have been enough for a while. Remembers which numbers were too few and which were
/// too many for this demand, so that it does not try them again. Keep one for each job. A value.
class Autoscaler {
 public:
  struct Options {
    std::uint32_t least = 0;
    std::uint32_t most = 64;
    /// What the last run of the same work needed; 0: not known.
    std::uint32_t start = 0;
    double margin = 0.05;          ///< Headroom beyond the demand.
    double starved = 0.02;         ///< A trainer with a lower starved ratio counts as fed.
    double worth = 0.1;            ///< A worker that would be used less than that is not asked for.
    double patience_seconds = 15;  ///< Fewer must have been enough for so long; shorter at first.
    double retry_seconds = 900;    ///< After so long a limit that was found is tested again.
  };

  explicit Autoscaler(const Options& options);

  ScaleDecision decide(const ScaleInput& input);

  /// The workers that this work needs, once they have been enough for a while: what a later run
  /// starts with. 0: not known yet.
  std::uint32_t needed() const { return needed_; }

 private:
  /// The cluster in an interval, as far as the decision needs it.
  struct View {
    std::uint32_t here = 0;  ///< Workers that make splits.
    double worker = 0;       ///< Splits/s that one more worker could make; 0: not known.
    double busy = 0;         ///< Mean over the workers.
    double local = 0;        ///< Splits/s that the trainer's own node can make.
    bool all_known = true;   ///< Every worker knows what it could make.
  };
  /// More workers than `workers` bring no more than `rate`.
  struct Ceiling {
    std::uint32_t workers = 0;
    double rate = 0;
  };
  /// Fewer workers than `workers` starve a trainer that takes `demand`, at `worker` splits/s each.
  struct Floor {
    std::uint32_t workers = 0;
    double demand = 0;
    double worker = 0;
  };

  View view_of(const ScaleInput& input);
  bool measure(const ScaleInput& input);
  std::optional<ScaleDecision> begin(const ScaleInput& input);
  std::optional<ScaleDecision> await_workers(const ScaleInput& input);
  ScaleDecision starving(const ScaleInput& input, const View& view);
  bool drains(const View& view);
  ScaleDecision fed(const ScaleInput& input, const View& view);
  std::optional<ScaleDecision> judge_growth(const ScaleInput& input, const View& view);
  ScaleDecision idle(const View& view);
  ScaleDecision try_fewer(const View& view);
  ScaleDecision go_on_searching(const View& view);
  bool at_ceiling();
  ScaleDecision hold_at_ceiling();
  ScaleDecision grow(const ScaleInput& input, const View& view, double workers);
  ScaleDecision change(std::uint32_t workers, std::string why);
  ScaleDecision keep(std::string why) const;
  std::uint32_t floor_for(const View& view) const;
  std::uint32_t bounded(double workers) const;
  /// The workers that make `rate` beside the trainer's own node, as a fraction.
  double workers_for(double rate, const View& view) const;
  std::string sum(const View& view) const;

  Options options_;
  DemandMeter meter_;
  ScaleInput window_;       // sums of the intervals since the meter's last figures
  double window_made_ = 0;  // splits that all nodes made in them
  double waiting_ = 0;      // splits that were made and not taken, more or less
  int window_intervals_ = 0;
  ScaleInput seen_;       // the sums of these figures
  double made_rate_ = 0;  // splits/s that were made in their time
  std::optional<std::uint32_t> asked_;
  std::uint32_t needed_ = 0;

  // Since the last change.
  double seconds_ = 0;
  MissingWorkers missing_;
  int settled_ = 0;  // intervals since the last worker came

  int measured_ = 0;               // of those, intervals in which the trainer waited
  int fed_for_ = 100;              // intervals in which it did not, since it last waited for long
  double rate_ = 0;                // the mean rate in them
  double local_ = 0;               // the most splits/s that the trainer's own node made
  int starving_ = 0;               // intervals in a row
  int idle_ = 0;                   // of those, in a row, with workers that had too little to do
  int draining_ = 0;               // intervals in a row in which less arrived than was taken
  std::optional<double> arrived_;  // smoothed splits/s
  int fewer_ = 0;         // intervals in a row in which fewer workers would have been enough
  double fewer_for_ = 0;  // their seconds
  std::uint32_t most_of_those_ = 0;
  int enough_ = 0;                // intervals in a row in which this number was right
  std::optional<double> anchor_;  // workers_for() when this number was found right

  std::optional<MarginalGain> gain_;
  std::optional<FewestSearch> search_;
  double best_worker_ = 0;            // the most splits/s that a worker could make so far
  std::uint32_t best_worker_of_ = 0;  // and the number of workers at that time
  std::optional<Ceiling> ceiling_;
  double ceiling_seconds_ = 0;  // since it was found
  double retry_ = 0;            // after so many of them it is tested again
  Floor floor_;
};

}  // namespace forebay::scheduler
