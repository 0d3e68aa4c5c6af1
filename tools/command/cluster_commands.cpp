#include <utility>

#include "tools/command/commands.h"

namespace forebay {
namespace {

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
       .fewest_arguments = 2,
       .most_arguments = 2,
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
       .fewest_arguments = 2,
       .most_arguments = 2,
       .options = {{"--client", "NAME", "add a pair for one more node; DIR may be there already"},
                   kJsonOption},
       .example = "  forebay keys new keys                    # then [cluster] keys = \"keys\"\n"
                  "  forebay keys new keys --client node-7    # a pair of its own for one node",
       .run = run_keys},
      {.name = "symmetric-run",
       .summary = "runs a job on every node of an srun, mpirun, torchrun or Indexed Job",
       .argument = "JOB",
       .fewest_arguments = 1,
       .most_arguments = 1,
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

std::vector<Command> cluster_commands() {
  std::vector<Command> all = node_commands();
  for (Command& command : launch_commands()) all.push_back(std::move(command));
  return all;
}

}  // namespace forebay
