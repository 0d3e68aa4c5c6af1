#pragma once

#include "engine/run/run_events.h"

namespace forebay {

/// Returns the events of a run in the program `forebay`: messages on stderr, a progress view, stop
/// by signals. A stall past `run.stall_fail` and memory past `pipeline.memory` end the process.
RunEvents terminal_events();

}  // namespace forebay
