#pragma once

#include <atomic>

#include "core/base/clock.h"
#include "tuner/compare/machine.h"

namespace forebay {

/// Makes emulated machines, which run in real time. When `stop` is set they return at once. Both
/// references outlive what is made.
tuner::MachineMaker emulated_machines(const Clock& clock, const std::atomic<bool>& stop);

}  // namespace forebay
