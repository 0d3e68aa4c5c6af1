#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/base/result.h"
#include "engine/modelled/modelled_figures.h"
#include "tuner/allocation.h"

namespace forebay {

/// Reads `load=4,decode=2`: counts by stage name. Stages that are not named have 1 actor; the
/// prefetch is the description's default. kInvalid names the stage that does not exist (and the
/// nearest), that is named twice, or whose count is not from 1 to its max_actors.
Result<tuner::Allocation> parse_allocation(std::string_view text,
                                           const tuner::PipelineDescription& description);

/// Runs the model for `seconds` of simulated time with a fixed allocation; the first tenth does not
/// count. Running out of memory ends the run. `stop` is called every simulated minute; true ends
/// the run, too.
ModelledFigures simulate(const tuner::PipelineModel& model, const tuner::Allocation& allocation,
                         double seconds, std::uint64_t seed, const std::function<bool()>& stop);

/// Returns a length with steady figures (30,000 splits, at least two minutes) that includes every
/// event.
double usual_seconds(const tuner::PipelineModel& model);

/// Returns the oracle's actors at the start, after events of that moment, with the prefetch that
/// the file asks for, or the most that fits beside them.
tuner::Allocation oracle_allocation(const tuner::PipelineModel& described);

}  // namespace forebay
