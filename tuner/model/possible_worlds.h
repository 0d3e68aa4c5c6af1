#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/model/expected_rate.h"
#include "tuner/model/pipeline_estimate.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {

/// Possible worlds, in which allocations are judged: in each, every stage has a cost drawn from its
/// estimate. A value.
class PossibleWorlds {
 public:
  static constexpr std::size_t kWorlds = 8;
  /// Splits/s, by world.
  using Rates = std::array<double, kWorlds>;

  explicit PossibleWorlds(const PipelineEstimate& known);

  /// The costs of one world, by stage.
  const std::vector<StageCost>& costs(std::size_t world) const { return costs_[world]; }

  /// steady_rate() in every world: no less than expected().
  Rates steady(std::span<const std::uint32_t> actors) const;
  /// expected_rate() in every world, given the steady rates of the same actors.
  Rates expected(std::span<const std::uint32_t> actors, const Rates& steady) const;

 private:
  /// What steady() needs of a stage, by world.
  struct Stage {
    Rates seconds;      // one actor alone, a split
    Rates cpu_seconds;  // of those, on a CPU
    Rates alpha;
    Rates beta;
    Rates most;  // splits/s of the rate limit; infinity: none
  };

  std::array<std::vector<StageCost>, kWorlds> costs_;
  std::vector<Stage> stages_;
  std::vector<double> noise_;  // by stage
  RateConditions given_;
};

}  // namespace forebay::tuner
