#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/base/result.h"
#include "engine/modelled/modelled_figures.h"
#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/oracle_line.h"

namespace forebay {

/// Reads `load=4,decode=2`: counts by stage name. Stages that are not named have 1 actor; the
/// prefetch is the description's default. kInvalid names the stage that does not exist (and the
/// nearest), that is named twice, or whose count is not from 1 to its max_actors.
Result<tuner::Allocation> parse_allocation(std::string_view text,
                                           const tuner::PipelineDescription& description);

/// The same for a model, of which nodes may have names: `n1.load=4,load=2` is for n1, and for every
/// other node.
Result<tuner::Allocation> parse_allocation(std::string_view text,
                                           const tuner::PipelineModel& model);

/// What a simulation is compared with, and when it ends early.
struct SimulationContext {
  tuner::FindBest find_best = {};   ///< Of worlds; empty: they are not compared.
  std::function<bool()> stop = {};  ///< Called every simulated minute; true ends the run.
};

/// Runs the model for `seconds` of simulated time with a fixed allocation; the first tenth does not
/// count. Running out of memory ends the run.
ModelledFigures simulate(const tuner::PipelineModel& model, const tuner::Allocation& allocation,
                         double seconds, std::uint64_t seed, const SimulationContext& context);

/// Returns a length with steady figures (30,000 splits, at least two minutes) that includes every
/// event.
double usual_seconds(const tuner::PipelineModel& model);

/// Returns the oracle's actors at the start, after events of that moment, with the prefetch that
/// the file asks for, or the most that fits beside them; of a world what `find_best` returns.
tuner::Allocation oracle_allocation(const tuner::PipelineModel& described,
                                    const tuner::FindBest& find_best = {});

}  // namespace forebay
