#pragma once

#include "tuner/compare/machine.h"

namespace forebay::tuner {

/// Makes simulators: no waiting, deterministic by seed.
MachineMaker simulated_machines();

}  // namespace forebay::tuner
