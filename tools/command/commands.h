#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/arguments.h"
#include "tools/process/process_end.h"

namespace forebay {

/// An option of a command. Without a `value` it is a flag.
struct OptionSpec {
  std::string_view name;   ///< `--rows`
  std::string_view value;  ///< `N`; empty for a flag.
  std::string_view help;
};

/// A subcommand: its arguments and the function that runs it.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< One line for `forebay help`.
  /// One word for each argument: `JOB`, `new DIR`; `[JOB]` is optional, `FILE…` any number.
  std::string_view argument = {};
  std::vector<OptionSpec> options = {};
  std::string_view example = {};  ///< Lines for `--help`.
  Exit (*run)(const Invocation&) = nullptr;
  /// Subcommands by their full names: `tune show` of `tune`.
  std::vector<Command> parts = {};
};

/// Options that many commands share.
inline constexpr OptionSpec kJsonOption{
    "--json", "", "print the result as one JSON object, the last line of stdout"};
inline constexpr OptionSpec kDashboardOption{
    "--dashboard", "HOST:PORT",
    "serve a page on the running job there: run.dashboard (port 0: any)"};
inline constexpr OptionSpec kSetOption{"--set", "KEY=VALUE",
                                       "override a key of the job file (repeatable)"};

/// Returns every command, in the order of `forebay help`.
std::span<const Command> all_commands();

/// Runs the command line after `forebay`; help and version go to stdout. Wrong usage returns exit
/// status 2 and suggests the nearest known name.
Exit run_command_line(const std::vector<std::string>& words);

/// Returns the page of `forebay help`, or of `forebay <command> --help`.
std::string help_page();
std::string help_page(const Command& command);

/// Returns `forebay 0.2.0`, then one line for each library in use. Reads libtorch's version from
/// file names only, since loading it takes a second.
std::string version_page();

// The functions called by the rows of commands.cpp, one file each.
Exit run_analyze(const Invocation& invocation);
Exit run_bench(const Invocation& invocation);
Exit run_completion(const Invocation& invocation);
Exit run_doctor(const Invocation& invocation);
Exit run_emulate(const Invocation& invocation);
Exit run_export(const Invocation& invocation);
Exit run_head(const Invocation& invocation);
Exit run_worker(const Invocation& invocation);
Exit run_index(const Invocation& invocation);
Exit run_ingest(const Invocation& invocation);
Exit run_plan(const Invocation& invocation);
Exit run_convert(const Invocation& invocation);
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
Exit run_report(const Invocation& invocation);
Exit run_trace(const Invocation& invocation);
Exit run_top(const Invocation& invocation);
Exit run_symmetric(const Invocation& invocation);
Exit run_set(const Invocation& invocation);
Exit run_synth(const Invocation& invocation);

/// Returns the command `tune` with its subcommands (tune.cpp).
Command tune_command();

}  // namespace forebay
