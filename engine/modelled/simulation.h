#pragma once

#include <cstdint>
#include <functional>

#include "engine/modelled/modelled_figures.h"

namespace forebay {

/// Runs the model for `seconds` of its time with a fixed allocation; the first tenth is left out of
/// the figures. Running out of memory ends the run. `stop` is asked every simulated minute; true
/// ends the run too.
ModelledFigures simulate(const tuner::PipelineModel& model, const tuner::Allocation& allocation,
                         double seconds, std::uint64_t seed, const std::function<bool()>& stop);

/// Long enough for steady figures (30,000 splits, at least two minutes), and for every event.
double usual_seconds(const tuner::PipelineModel& model);

/// The oracle's actors at the start, events of that moment included, with the prefetch the file
/// asks for or the most that fits beside them.
tuner::Allocation oracle_allocation(const tuner::PipelineModel& described);

}  // namespace forebay
