#pragma once

#include "tools/command/command.h"

namespace forebay {

// What the rows of commands.cpp call, one file each.
Exit run_bench(const Invocation& invocation);
Exit run_completion(const Invocation& invocation);
Exit run_doctor(const Invocation& invocation);
Exit run_index(const Invocation& invocation);
Exit run_ingest(const Invocation& invocation);
Exit run_inspect(const Invocation& invocation);
Exit run_train(const Invocation& invocation);
Exit run_synth(const Invocation& invocation);

}  // namespace forebay
