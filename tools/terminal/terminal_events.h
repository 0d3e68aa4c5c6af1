#pragma once

#include "engine/run/run_events.h"

namespace forebay {

/// How a run speaks in the program `forebay`: lines on stderr, its progress shown, stopped by
/// signals. A stall past `run.stall_fail`, and memory past `pipeline.memory`, end the process.
RunEvents terminal_events();

}  // namespace forebay
