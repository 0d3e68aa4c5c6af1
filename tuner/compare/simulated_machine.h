#pragma once

#include "tuner/compare/machine.h"

namespace forebay::tuner {

/// Returns a maker of simulators: no waiting, deterministic by seed.
MachineMaker simulated_machines();

}  // namespace forebay::tuner
