#include "tools/command/commands.h"

namespace forebay {
namespace {

std::vector<Command> job_commands() {
  return {
      {.name = "train",
       .summary = "trains the job's model on its files",
       .argument = "JOB",
       .options = {kSetOption,
                   {"--resume", "", "go on from the last complete checkpoint"},
                   {"--restart", "", "start anew over existing checkpoints"},
                   kJsonOption},
       .example = "  forebay train examples/open_bandit/job.toml\n"
                  "  forebay train job.toml --resume --set pipeline.memory=2GiB --json",
       .run = run_train},
      {.name = "ingest",
       .summary = "runs the job's pipeline without a trainer",
       .argument = "JOB",
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
       .options = {kSetOption, kJsonOption},
       .example = "  forebay index job.toml --json",
       .run = run_index},
  };
}

std::vector<Command> data_commands() {
  return {
      {.name = "synth",
       .summary = "writes made-up data: click logs in Criteo's layout, or modelled pipelines",
       .argument = "criteo|pipelines",
       .options = {{"--rows", "N", "rows to write, over all files"},
                   {"--files", "K", "files to write: day_0.tsv to day_K-1.tsv (default 1)"},
                   {"--count", "N", "pipelines: how many to write"},
                   {"--events", "", "pipelines: with disturbances"},
                   {"--seed", "S", "other rows, or other pipelines (default 1)"},
                   {"--out", "DIR", "folder to write to; made when it is not there"},
                   {"--force", "", "write over files that are there"},
                   kJsonOption},
       .example = "  forebay synth criteo --rows 1000000 --files 4 --seed 1 --out data\n"
                  "  forebay synth pipelines --count 100 --seed 7 --events --out pipelines",
       .run = run_synth},
      {.name = "inspect",
       .summary = "tells what files hold: data, checkpoints, states, indexes, quarantines, jobs",
       .argument = "[FILE…]",
       .options = {{"--ops", "", "list the transforms a job may use"}, kJsonOption},
       .example = "  forebay inspect data/day_0.tsv .forebay/quarantine.tsv\n"
                  "  forebay inspect --ops",
       .run = run_inspect},
      {.name = "export",
       .summary = "writes a checkpoint's model as TorchScript",
       .argument = "CHECKPOINT",
       .options = {{"--out", "FILE", "file to write, for torch.jit.load"},
                   {"--max-bytes", "SIZE",
                    "refuse a model that takes more; it is in memory once while it is written "
                    "(default: what is free there and on the disk)"},
                   kJsonOption},
       .example = "  forebay export checkpoints --out model.pt\n"
                  "  forebay export checkpoints/checkpoint-000001000 --out model.pt --json",
       .run = run_export},
  };
}

std::vector<Command> machine_commands() {
  return {
      {.name = "bench",
       .summary = "measures a part against its limit on this machine: checkpoint, ingest, "
                  "ranks, runtime, tables, threads, train, tuner, wire",
       .argument = "checkpoint|ingest|ranks|runtime|tables|threads|train|tuner|wire",
       .options =
           {{"--rows", "N",
             "rows of made-up data to measure with (default 2000000); tables: of each (2^20); "
             "ranks, threads: of the whole jobs (300000, 200000)"},
            {"--small", "",
             "ranks, tables: the default MLPs instead of those published for Criteo"},
            {"--rounds", "N",
             "interleaved rounds, of which medians are taken (default 5; checkpoint, tables, "
             "threads 3)"},
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
       .argument = "[JOB]",
       .options = {kSetOption, kJsonOption},
       .example = "  forebay doctor\n"
                  "  forebay doctor job.toml --set pipeline.memory=2GiB",
       .run = run_doctor},
      {.name = "completion",
       .summary = "prints a completion script for a shell",
       .argument = "bash|zsh|fish",
       .example = "  source <(forebay completion bash)",
       .run = run_completion},
  };
}

/// Returns the commands for a running job.
std::vector<Command> running_commands() {
  return {
      {.name = "set",
       .summary = "changes a running job: its CPUs, memory, tuner or an operator's cost",
       .argument = "KEY=VALUE",
       .options = {{"--dir", "DIR", "the job's folder, or its .forebay (default: here)"},
                   kJsonOption},
       .example = "  forebay set pipeline.memory=2GiB\n"
                  "  forebay set tuner.mode=off --dir jobs/ads\n"
                  "  forebay set transform.3.microseconds=40",
       .run = run_set},
      {.name = "status",
       .summary = "looks at a running job: rows, stages, memory, nodes, leases",
       .options = {{"--dir", "DIR", "the job's folder, or its .forebay (default: here)"},
                   {"--join", "ADDR", "the cluster whose head listens there: H:P or tcp://H:P"},
                   {"--keys", "DIR", "CURVE keys; needed beyond loopback"},
                   kJsonOption},
       .example = "  forebay status\n"
                  "  forebay status --dir jobs/ads --json\n"
                  "  forebay status --join 10.0.0.1:29400 --keys keys",
       .run = run_status},
      {.name = "top",
       .summary = "shows a running job live, each second, until it ends",
       .options = {{"--dir", "DIR", "the job's folder, or its .forebay (default: here)"},
                   {"--join", "ADDR", "the cluster whose head listens there: H:P or tcp://H:P"},
                   {"--keys", "DIR", "CURVE keys; needed beyond loopback"}},
       .example = "  forebay top --dir jobs/ads",
       .run = run_top},
      {.name = "trace",
       .summary = "writes where a running job's splits were and when, as a Chrome trace",
       .options = {{"--dir", "DIR", "the job's folder, or its .forebay (default: here)"},
                   {"--out", "FILE", "where to (default: trace.json); Perfetto opens it"},
                   {"--join", "ADDR", "refused: the trainer's node keeps the trace of all nodes"},
                   {"--seconds", "T", "the last T only (default: the last 4096 splits)"},
                   kJsonOption},
       .example = "  forebay trace\n"
                  "  forebay trace --dir jobs/ads --out ads.json --seconds 10",
       .run = run_trace},
  };
}

std::vector<Command> modelled_commands() {
  return {
      {.name = "simulate",
       .summary = "runs a modelled pipeline without waiting",
       .argument = "PIPELINE",
       .options = {{"--allocation", "STAGE=N,…",
                    "actors a stage, 1 where not named; or oracle: the best there is"},
                   {"--prefetch", "N",
                    "splits that may wait for the trainer (default: the file's)"},
                   {"--seconds", "S", "simulated time (default: 30000 splits, and every event)"},
                   {"--seed", "N", "other noise (default 1)"},
                   kJsonOption},
       .example =
           "  forebay simulate pipeline.toml --allocation oracle\n"
           "  forebay simulate pipeline.toml --allocation load=4,decode=12 --prefetch 8 --json",
       .run = run_simulate},
      {.name = "emulate",
       .summary = "runs a modelled pipeline in real time, on the real runtime",
       .argument = "PIPELINE",
       .options = {{"--allocation", "STAGE=N,…",
                    "actors a stage at the start, 1 where not named; or oracle: the best there is"},
                   {"--prefetch", "N",
                    "splits that may wait for the trainer (default: the file's)"},
                   {"--policy", "P",
                    "the policy that tunes it (default: none); see forebay tune --policies"},
                   {"--period", "T", "time between two decisions (default 2s)"},
                   {"--seconds", "S", "how long; the second half is measured (default 20)"},
                   {"--seed", "N", "other noise (default 1)"},
                   kJsonOption},
       .example = "  forebay emulate pipeline.toml --allocation oracle\n"
                  "  forebay emulate pipeline.toml --policy greedy --seconds 2m --json",
       .run = run_emulate},
  };
}

constexpr OptionSpec kMetricsOption{"--metrics", "HOST:PORT",
                                    "serve its figures to Prometheus (port 0: any)"};

std::vector<Command> node_commands() {
  return {
      {.name = "worker",
       .summary = "joins a job as a preprocessing node; ends when the job does",
       .options = {{"--join", "ADDR",
                    "where the trainer or head listens: H:P, tcp://H:P or a file with that"},
                   {"--cpus", "N", "CPUs to use (default: all this process may)"},
                   {"--memory", "SIZE", "hard limit on memory (default: half of what is free)"},
                   {"--name", "NAME", "unique in the cluster (default: host and process)"},
                   {"--keys", "DIR", "CURVE keys; needed beyond loopback"},
                   {"--data-root", "FROM=TO",
                    "where the trainer's folder FROM is here (repeatable)"},
                   {"--dir", "DIR", "where to keep an index (default: in the job's folder)"},
                   {"--grace", "T", "to finish what it has when asked to stop (default 5s)"},
                   {"--patience", "T", "how long to look for a head at first (default 10m)"},
                   {"--expendable", "",
                    "end with 0 when refused, too: for launchers that end all when one fails"},
                   kMetricsOption,
                   kJsonOption},
       .example = "  forebay worker --join 10.0.0.1:29400 --keys keys\n"
                  "  forebay worker --join ./.forebay/address --data-root /data=/mnt/data",
       .run = run_worker},
      {.name = "head",
       .summary = "runs a head of its own, which outlives the trainer",
       .options = {{"--listen", "ADDR", "where trainers and workers join: tcp://H:P, port 0: any"},
                   {"--store", "DIR", "what it has to remember"},
                   {"--keys", "DIR", "CURVE keys; needed beyond loopback"},
                   {"--lease", "T", "on a split (default 5s)"},
                   kMetricsOption,
                   kJsonOption},
       .example = "  forebay head --listen tcp://127.0.0.1:29400 --store head\n"
                  "  forebay train job.toml --set cluster.head=tcp://127.0.0.1:29400 \\\n"
                  "                         --set cluster.listen=tcp://127.0.0.1:0",
       .run = run_head},
  };
}

std::vector<Command> launch_commands() {
  return {
      {.name = "launch",
       .summary = "writes what starts a job on a cluster, for you to read, edit and run",
       .argument = "slurm|k8s|ssh JOB",
       .options = {{"--out", "DIR", "folder to write to (default: .forebay/launch of the job)"},
                   {"--command", "C", "train or ingest (default train)"},
                   {"--workers", "N", "workers beside the trainer (default 1)"},
                   {"--gpus", "N", "GPUs of the trainer (default: 1 if trainer.device is cuda)"},
                   {"--port", "P", "the head's port (default: any; k8s: 29400)"},
                   {"--hosts", "FILE", "ssh: lines such as node-1 slots=2 role=worker"},
                   {"--image", "IMAGE", "k8s: the container image, with forebay in it"},
                   {"--claim", "NAME", "k8s: the volume claim that holds the job's folder"},
                   kSetOption,
                   {"--force", "", "write over files that were edited"},
                   {"--submit", "", "also start it"},
                   kJsonOption},
       .example =
           "  forebay launch slurm job.toml --workers 8 --submit\n"
           "  forebay launch k8s job.toml --workers 4 --image registry/forebay:1 --claim ads",
       .run = run_launch},
      {.name = "keys",
       .summary = "makes the keys by which the nodes of a cluster know each other",
       .argument = "new DIR",
       .options = {{"--client", "NAME", "add a pair for one more node; DIR may be there already"},
                   kJsonOption},
       .example = "  forebay keys new keys                    # then [cluster] keys = \"keys\"\n"
                  "  forebay keys new keys --client node-7    # a pair of its own for one node",
       .run = run_keys},
      {.name = "symmetric-run",
       .summary = "runs a job on every node of an srun, mpirun, torchrun or Indexed Job",
       .argument = "JOB",
       .options = {{"--command", "C", "what rank 0 does: train or ingest (default train)"},
                   {"--port", "P", "the head's port (default: by the job's number)"},
                   kSetOption,
                   {"--resume", "", "train: go on from the last complete checkpoint"},
                   {"--restart", "", "train: start anew over existing checkpoints"},
                   kJsonOption},
       .example = "  srun --ntasks-per-node=1 --kill-on-bad-exit forebay symmetric-run job.toml\n"
                  "  mpirun -n 4 forebay symmetric-run job.toml --command ingest --json",
       .run = run_symmetric},
  };
}

}  // namespace

std::span<const Command> all_commands() {
  static const std::vector<Command> commands = [] {
    std::vector<Command> all;
    for (auto part :
         {job_commands(), data_commands(), tune_commands(), machine_commands(), running_commands(),
          modelled_commands(), node_commands(), launch_commands()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return commands;
}

}  // namespace forebay
