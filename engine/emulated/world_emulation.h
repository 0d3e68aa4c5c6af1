#pragma once

#include "core/base/result.h"
#include "engine/modelled/emulation.h"

namespace forebay {

/// Runs a world with named nodes as emulate() runs one machine: fixed, or with a tuner on each
/// node, which sees what its node can measure and has a policy and a guard of its own; by the
/// policy "central" the nodes ask the central tuner, as those of a real job do. Figures are of the
/// second half of the run, or of the part of it that ran. kInvalid: no such policy, or more than
/// 256 threads; kUnavailable: this machine cannot start so many threads or sockets.
Result<EmulationOutcome> emulate_world(const EmulationSpec& spec, const EmulationHooks& hooks);

}  // namespace forebay
