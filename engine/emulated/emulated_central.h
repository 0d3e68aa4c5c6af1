#pragma once

#include <cstddef>
#include <memory>

#include "core/runtime/actor_host.h"
#include "engine/cluster/central_tuner.h"
#include "engine/emulated/world_machine.h"
#include "tuner/policy.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay {

/// Starts the central tuner of an emulated world, the same that decides beside a real job's trainer
/// (engine/cluster/central_tuner.h), on a thread of its own. The machine outlives `system`.
TunersRef start_central(ActorSystem& system, WorldMachine& machine,
                        const CentralTuner::Options& options);

/// Makes the policy of a node that asks the central tuner and obeys it; `own` decides while the
/// tuner is silent. The machine outlives the policy.
std::unique_ptr<tuner::Policy> central_policy_of(std::size_t node, WorldMachine& machine,
                                                 const tuner::PipelineModel& model,
                                                 const TunersRef& tuners,
                                                 std::unique_ptr<tuner::Policy> own);

}  // namespace forebay
