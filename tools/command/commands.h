#pragma once

#include "tools/command/command.h"

namespace forebay {

// The functions called by the rows of commands.cpp, one file each.
Exit run_bench(const Invocation& invocation);
Exit run_completion(const Invocation& invocation);
Exit run_doctor(const Invocation& invocation);
Exit run_emulate(const Invocation& invocation);
Exit run_export(const Invocation& invocation);
Exit run_head(const Invocation& invocation);
Exit run_worker(const Invocation& invocation);
Exit run_index(const Invocation& invocation);
Exit run_ingest(const Invocation& invocation);
Exit run_inspect(const Invocation& invocation);
Exit run_keys(const Invocation& invocation);
Exit run_launch(const Invocation& invocation);
Exit run_tune(const Invocation& invocation);
Exit run_tune_compare(const Invocation& invocation);
Exit print_policies(const Invocation& invocation);  ///< `tune --policies`
Exit run_simulate(const Invocation& invocation);
Exit run_tune_freeze(const Invocation& invocation);
Exit run_tune_pretrain(const Invocation& invocation);
Exit run_tune_replay(const Invocation& invocation);
Exit run_tune_show(const Invocation& invocation);
Exit run_train(const Invocation& invocation);
Exit run_status(const Invocation& invocation);
Exit run_trace(const Invocation& invocation);
Exit run_top(const Invocation& invocation);
Exit run_symmetric(const Invocation& invocation);
Exit run_set(const Invocation& invocation);
Exit run_synth(const Invocation& invocation);
Exit run_synth_pipelines(const Invocation& invocation);

/// Returns the commands that join nodes to one job (cluster_commands.cpp).
std::vector<Command> cluster_commands();

/// Returns the command `tune` with its subcommands (tune.cpp).
std::vector<Command> tune_commands();

}  // namespace forebay
