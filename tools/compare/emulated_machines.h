#pragma once

#include <atomic>

#include "core/base/clock.h"
#include "tuner/compare/machine.h"

namespace forebay {

/// Makes emulated machines, which run in real time. When `stop` is set, their runs return at once.
/// Both references outlive the machines.
tuner::MachineMaker emulated_machines(const Clock& clock, const std::atomic<bool>& stop);

}  // namespace forebay
