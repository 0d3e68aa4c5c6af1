#pragma once

#include "core/base/result.h"

namespace forebay {

/// Keeps this process, and all threads it starts from now on, on `cpus` of the CPUs it may use.
Status limit_cpus(int cpus);

}  // namespace forebay
