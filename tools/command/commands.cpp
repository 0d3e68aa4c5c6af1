#include "tools/command/commands.h"

#include <cstdio>
#include <limits>

#include "tools/command/command_line.h"

namespace forebay {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

std::vector<Command> job_commands() {
  return {
      {.name = "train",
       .summary = "trains the job's model on its files",
       .argument = "JOB",
       .fewest_arguments = 1,
       .most_arguments = 1,
       .options = {kSetOption,
                   {"--resume", "", "go on from the last complete checkpoint"},
                   {"--restart", "", "start anew over existing checkpoints"},
                   kJsonOption},
       .example = "  forebay train examples/open_bandit/job.toml\n"
                  "  forebay train job.toml --resume --set pipeline.memory=2GiB --json",
       .run = run_train},
      {.name = "ingest",
       .summary = "runs the job's pipeline with nobody training",
       .argument = "JOB",
       .fewest_arguments = 1,
       .most_arguments = 1,
       .options = {kSetOption,
                   {"--dump", "FILE", "write what a trainer would see, in order, as a TSV"},
                   {"--state", "FILE",
                    "write the loader's state at the end and on an orderly stop"},
                   {"--resume", "FILE", "go on from such a state"},
                   {"--max-batches", "N", "end after N batches of this run"},
                   kJsonOption},
       .example = "  forebay ingest job.toml --dump rows.tsv --max-batches 10\n"
                  "  forebay ingest job.toml --state now.json    # later: --resume now.json",
       .run = run_ingest},
      {.name = "index",
       .summary = "indexes the job's dataset: finds its rows, counts them, names its content",
       .argument = "JOB",
       .fewest_arguments = 1,
       .most_arguments = 1,
       .options = {kSetOption, kJsonOption},
       .example = "  forebay index job.toml --json",
       .run = run_index},
  };
}

std::vector<Command> data_commands() {
  return {
      {.name = "synth",
       .summary = "writes made-up click logs in Criteo's layout, with a label that can be learned",
       .argument = "criteo",
       .fewest_arguments = 1,
       .most_arguments = 1,
       .options = {{"--rows", "N", "rows to write, over all files"},
                   {"--files", "K", "files to write: day_0.tsv to day_K-1.tsv (default 1)"},
                   {"--seed", "S", "other rows, the same rule for the label (default 1)"},
                   {"--out", "DIR", "folder to write to; made when it is not there"},
                   {"--force", "", "write over files that are there"},
                   kJsonOption},
       .example = "  forebay synth criteo --rows 1000000 --files 4 --seed 1 --out data",
       .run = run_synth},
      {.name = "inspect",
       .summary = "tells what files hold: data, checkpoints, states, indexes, quarantines, jobs",
       .argument = "FILE…",
       .fewest_arguments = 0,
       .most_arguments = kAny,
       .options = {{"--ops", "", "list the transforms a job may use"}, kJsonOption},
       .example = "  forebay inspect data/day_0.tsv .forebay/quarantine.tsv\n"
                  "  forebay inspect --ops",
       .run = run_inspect},
  };
}

std::vector<Command> machine_commands() {
  return {
      {.name = "bench",
       .summary = "measures a part against its limit on this machine: ingest, runtime or train",
       .argument = "ingest|runtime|train",
       .fewest_arguments = 1,
       .most_arguments = 1,
       .options =
           {{"--rows", "N", "rows of made-up data to measure with (default 2000000)"},
            {"--rounds", "N", "interleaved rounds, of which medians are taken (default 5)"},
            {"--growth", "", "ingest: also at a tenth of the rows"},
            {"--public", "PATH",
             "ingest: also the loader in PATH (tests/bench/public); runtime: also the program PATH "
             "(caf_runtime)"},
            kJsonOption},
       .example = "  forebay bench ingest --public tests/bench/public\n"
                  "  forebay bench train --json",
       .run = run_bench},
      {.name = "doctor",
       .summary = "checks this machine, and a job on it, and says what will go wrong",
       .argument = "JOB",
       .fewest_arguments = 0,
       .most_arguments = 1,
       .options = {kSetOption, kJsonOption},
       .example = "  forebay doctor\n"
                  "  forebay doctor job.toml --set pipeline.memory=2GiB",
       .run = run_doctor},
      {.name = "completion",
       .summary = "prints a completion script for a shell",
       .argument = "bash|zsh|fish",
       .fewest_arguments = 1,
       .most_arguments = 1,
       .options = {},
       .example = "  source <(forebay completion bash)",
       .run = run_completion},
  };
}

// Known by name, so that a script hears that this version lacks them.
std::vector<Command> later_commands() {
  return {
      {.name = "simulate", .summary = "runs a modelled pipeline without waiting"},
      {.name = "emulate", .summary = "runs a modelled pipeline in real time"},
      {.name = "tune", .summary = "compares, shows and freezes tuning policies"},
      {.name = "head", .summary = "runs a head of its own"},
      {.name = "worker", .summary = "joins a head as a preprocessing node"},
      {.name = "set", .summary = "changes a running job"},
      {.name = "export", .summary = "writes a checkpoint's model as TorchScript"},
      {.name = "symmetric-run", .summary = "runs a job on every node of a Slurm or MPI allocation"},
      {.name = "keys", .summary = "makes the keys that nodes of a cluster share"},
      {.name = "launch", .summary = "writes what starts a job on a cluster"},
      {.name = "status", .summary = "looks at a running job"},
      {.name = "top", .summary = "shows a running job live"},
      {.name = "trace", .summary = "writes a running job's timeline"},
  };
}

}  // namespace

std::span<const Command> all_commands() {
  static const std::vector<Command> commands = [] {
    std::vector<Command> all;
    for (auto part : {job_commands(), data_commands(), machine_commands(), later_commands()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return commands;
}

Exit run_completion(const Invocation& invocation) {
  const std::string script = completion_script(invocation.arguments.front());
  if (script.empty()) {
    return Exit::refused("completion " + invocation.arguments.front() +
                         ": no such shell; bash, zsh and fish are known");
  }
  std::fwrite(script.data(), 1, script.size(), stdout);
  return Exit::done();
}

}  // namespace forebay
