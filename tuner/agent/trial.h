#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/model/planner.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Tests the belief that holds the slowest stage back.
///
/// While the trainer waits, one stage works all the time, and only a belief (contention, a rate
/// limit) says that more actors would not help it, a trial gives it more for a few service times;
/// fewer, where splits take so long that there may be too many, or no more fit. Before, the
/// estimate is made to doubt the belief, so that what the trial shows decides. By the belief itself
/// a trial costs at most 3 % of the rate. Trials that change nothing become rarer; a change of the
/// work or the machine makes them frequent again. A value.
class Trial {
 public:
  explicit Trial(PipelineDescription description);

  /// After an interval: returns `planned`, or while a trial runs, `planned` with other actors in
  /// the stage on trial. May weaken `known`'s belief about that stage.
  Planned next(const Observation& seen, PipelineEstimate& known, Planned planned);

  /// What the trial that ended in the last next() showed.
  struct Outcome {
    std::size_t stage = 0;
    std::uint32_t before = 0;  ///< Actors.
    std::uint32_t during = 0;
    bool refuted = false;  ///< The belief was wrong.
  };
  const std::optional<Outcome>& outcome() const { return outcome_; }

  /// The stage on trial.
  const std::optional<std::size_t>& stage() const { return stage_; }

 private:
  struct Candidate {
    std::size_t stage = 0;
    std::uint32_t actors = 0;
  };

  Allocation supplied(const Observation& seen, const PipelineEstimate& known) const;
  void settle(const Observation& seen, const PipelineEstimate& known);
  bool over(const Observation& seen, const PipelineEstimate& known);
  bool passed(const PipelineEstimate& known, const Planned& planned) const;
  bool worse(double noise) const;
  std::optional<Candidate> candidate(const Observation& seen, const PipelineEstimate& known) const;
  bool has_room(const Observation& seen, std::size_t stage) const;
  std::uint32_t hoped(const Observation& seen, const PipelineEstimate& known,
                      std::size_t stage) const;
  std::uint32_t affordable(const Observation& seen, const PipelineEstimate& known,
                           const Candidate& wanted) const;

  PipelineDescription description_;
  std::vector<std::uint32_t> stood_;   // actors by stage since they last changed much
  std::vector<double> done_;           // splits completed since then
  std::vector<double> seconds_;        // that passed since then
  std::vector<double> least_;          // actors with which splits were measured lately, and the
  std::vector<double> most_;           // most; old measurements fade
  std::vector<std::uint32_t> failed_;  // trials of the stage in a row that changed nothing
  double rest_ = 0;                    // seconds until the next trial
  std::optional<std::size_t> stage_;
  std::optional<Outcome> outcome_;
  std::uint32_t before_ = 0;  // actors of that stage before the trial
  std::uint32_t during_ = 0;  // and in it
  double lasted_ = 0;         // seconds
  double rate_before_ = 0;    // splits/s that the stage could do before
  double shown_ = 0;          // splits completed by about that many actors
  double shown_seconds_ = 0;  // of those splits
};

}  // namespace forebay::tuner
