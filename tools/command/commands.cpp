#include "tools/command/commands.h"

namespace forebay {
namespace {

constexpr OptionSpec kMetricsOption{"--metrics", "HOST:PORT",
                                    "serve its figures to Prometheus (port 0: any)"};

/// Every command, in the order of `forebay help`.
const std::vector<Command> kCommands = {
    {.name = "train",
     .summary = "trains the job's model on its files",
     .argument = "JOB",
     .options = {kSetOption,
                 {"--resume", "", "go on from the last complete checkpoint"},
                 {"--restart", "", "start anew over existing checkpoints"},
                 kDashboardOption,
                 kJsonOption},
     .example = "  forebay train examples/open_bandit/job.toml\n"
                "  forebay train job.toml --resume --set pipeline.memory=2GiB --json",
     .run = run_train},
    {.name = "ingest",
     .summary = "runs the job's pipeline without a trainer",
     .argument = "JOB",
     .options = {kSetOption,
                 {"--dump", "FILE", "write what a trainer would see, in order, as a TSV"},
                 {"--state", "FILE", "write the loader's state at the end and on an orderly stop"},
                 {"--resume", "FILE", "go on from such a state"},
                 {"--max-batches", "N", "end after N batches of this run"},
                 kDashboardOption,
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
    {.name = "plan",
     .summary = "shows the job's operators as written and as they run, and what they cost a row",
     .argument = "JOB",
     .options = {kSetOption, kJsonOption},
     .example = "  forebay plan job.toml\n"
                "  forebay plan job.toml --set pipeline.optimize=false --json",
     .run = run_plan},
    {.name = "convert",
     .summary = "writes the job's rows as Parquet in a layout made for training, or as npy",
     .argument = "JOB",
     .options = {kSetOption,
                 {"--out", "DIR", "folder to write to; made when it is not there"},
                 {"--to", "parquet|npy", "what to write (default parquet)"},
                 {"--raw", "", "the rows as they are read, without the job's transforms"},
                 {"--sort", "COLUMN", "sort rows by a column, in runs of 128 MiB of an input file"},
                 {"--resume", "", "go on with a conversion that was stopped or killed"},
                 kJsonOption},
     .example = "  forebay convert job.toml --out data/parquet --raw\n"
                "  forebay convert job.toml --out data/npy --to npy --resume",
     .run = run_convert},
    {.name = "synth",
     .summary = "writes made-up data: click logs in Criteo's layout, or modelled pipelines",
     .argument = "criteo|pipelines",
     .options = {{"--rows", "N", "criteo: rows to write, over all files"},
                 {"--files", "K", "criteo: files to write: day_0.tsv to day_K-1.tsv (default 1)"},
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
     .example = "  forebay inspect job.toml data/day_0.tsv checkpoints\n"
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
    tune_command(),
    {.name = "bench",
     .summary = "measures a part against its limit on this machine: checkpoint, ingest, "
                "parquet, ranks, runtime, store, tables, threads, train, tuner, wire",
     .argument = "checkpoint|ingest|parquet|ranks|runtime|store|tables|threads|train|tuner|wire",
     .options =
         {{"--rows", "N",
           "rows of made-up data to measure with (default 2000000; parquet 1000000); "
           "tables: of each (2^20); store: MiB, thousands of rows (2048); "
           "ranks, threads: of the whole jobs (300000, 200000)"},
          {"--small", "",
           "ranks, tables, train on a GPU: the default MLPs instead of those published for Criteo"},
          {"--rounds", "N",
           "interleaved rounds, of which medians are taken (default 5; checkpoint, tables, "
           "threads 3)"},
          {"--growth", "", "ingest: also at a tenth of the rows"},
          {"--public", "PATH",
           "ingest, parquet, store: also the loader in PATH (tests/bench/public); runtime: "
           "also "
           "the program PATH "
           "(caf_runtime)"},
          {"--only", "PART", "store: transfer, criteo or dlrm alone"},
          {"--request-price", "USD", "store: for 1,000 requests (default 0.0004)"},
          {"--byte-price", "USD", "store: for a GB that comes (default 0, as inside a region)"},
          {"--connections", "N", "store: requests in flight of its jobs (default 64)"},
          {"--device", "NAME", "train: of the model, cpu (default), cuda or cuda:N"},
          {"--model", "NAME", "train: dlrm (default), dcn_v2, wide_deep or deepfm"},
          {"--batch", "N", "train: rows of a batch (default that of a job)"},
          kJsonOption},
     .example = "  forebay bench ingest --public tests/bench/public\n"
                "  forebay bench store --only dlrm --byte-price 0.02 --connections 256\n"
                "  forebay bench train --json\n"
                "  forebay bench train --device cuda --model dcn_v2 --batch 65536",
     .run = run_bench},
    {.name = "doctor",
     .summary = "checks this machine, and a job or a Parquet file on it, and what a store answers, "
                "and says "
                "what will go wrong",
     .argument = "[FILE-OR-JOB]",
     .options = {kSetOption, kJsonOption},
     .example = "  forebay doctor\n"
                "  forebay doctor clicks.parquet\n"
                "  forebay doctor 's3://clicks/2026/*.parquet'\n"
                "  forebay doctor job.toml --set pipeline.memory=2GiB",
     .run = run_doctor},
    {.name = "analyze",
     .summary = "says where a job's time goes, and what more CPUs, workers or a faster disk would "
                "bring",
     .argument = "JOB",
     .options = {{"--seconds", "S", "how long to run the job, trials included (default 20)"},
                 kSetOption,
                 kJsonOption},
     .example = "  forebay analyze job.toml\n"
                "  forebay analyze job.toml --seconds 1m --set pipeline.cpus=4 --json",
     .run = run_analyze},
    {.name = "completion",
     .summary = "prints a completion script for a shell",
     .argument = "bash|zsh|fish",
     .example = "  source <(forebay completion bash)",
     .run = run_completion},
    {.name = "set",
     .summary =
         "changes a running job: its CPUs, memory, threads, tuner or a `spin` operator's cost",
     .argument = "KEY=VALUE",
     .options = {{"--dir", "DIR", "the job's folder, or its .forebay (default: here)"},
                 kJsonOption},
     .example = "  forebay set pipeline.memory=2GiB\n"
                "  forebay set tuner.mode=off --dir jobs/ads\n"
                "  forebay set transform.3.microseconds=40    # of operator 3, a `spin` operator",
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
    {.name = "report",
     .summary = "writes one page on a finished run, or on two side by side",
     .argument = "DIR…",
     .options = {{"--out", "FILE", "where to (default: run.html); any browser opens it"},
                 kJsonOption},
     .example = "  forebay report jobs/ads --out ads.html\n"
                "  forebay report before after --out both.html",
     .run = run_report},
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
    {.name = "simulate",
     .summary = "runs a modelled pipeline without waiting",
     .argument = "PIPELINE",
     .options =
         {{"--allocation", "STAGE=N,…",
           "actors a stage, 1 where not named (NODE.STAGE=N: on one node); or oracle: the best "
           "there is"},
          {"--prefetch", "N", "splits that may wait for the trainer (default: the file's)"},
          {"--seconds", "S", "simulated time (default: 30000 splits, and every event)"},
          {"--seed", "N", "other noise (default 1)"},
          kJsonOption},
     .example =
         "  forebay synth pipelines --count 1 --seed 1 --out pipelines\n"
         "  forebay simulate pipelines/random-1-0.toml --allocation oracle\n"
         "  forebay simulate pipelines/random-1-0.toml --allocation stage0=4,stage1=12 --json",
     .run = run_simulate},
    {.name = "emulate",
     .summary = "runs a modelled pipeline in real time, on the real runtime",
     .argument = "PIPELINE",
     .options = {{"--allocation", "STAGE=N,…",
                  "actors a stage at the start, 1 where not named; or oracle: the best there is"},
                 {"--prefetch", "N", "splits that may wait for the trainer (default: the file's)"},
                 {"--policy", "P",
                  "the policy that tunes it (default: none); see forebay tune --policies"},
                 {"--period", "T", "time between two decisions (default 2s)"},
                 {"--seconds", "S", "how long; the second half is measured (default 20)"},
                 {"--seed", "N", "other noise (default 1)"},
                 kJsonOption},
     .example = "  forebay synth pipelines --count 1 --seed 2 --out pipelines\n"
                "  forebay emulate pipelines/random-2-0.toml --allocation oracle\n"
                "  forebay emulate pipelines/random-2-0.toml --policy greedy --seconds 2m --json",
     .run = run_emulate},
    {.name = "worker",
     .summary = "joins a job as a preprocessing node; ends when the job does",
     .options =
         {{"--join", "ADDR|FILE",
           "where the trainer or head listens: H:P, tcp://H:P or a file with that"},
          {"--cpus", "N", "CPUs to use (default: all this process may)"},
          {"--memory", "SIZE", "hard limit on memory (default: half of what is free)"},
          {"--name", "NAME", "unique in the cluster (default: host and process)"},
          {"--keys", "DIR", "CURVE keys; needed beyond loopback"},
          {"--actors", "LIB.so", "a library of actors to offer to programs (repeatable)"},
          {"--ship", "", "send these libraries to workers with --accept-shipped that lack them"},
          {"--accept-shipped", "",
           "run libraries that other workers ship: whoever may join may run code here"},
          {"--listen", "ADDR",
           "where programs reach its actors: H:P (default: any port; loopback without keys)"},
          {"--object-memory", "SIZE",
           "for what its actors put and fetch as objects (default: a quarter of --memory)"},
          {"--object-disk", "SIZE", "for the objects that memory does not hold (default: none)"},
          {"--object-dir", "DIR", "on that disk (default: the folder for temporary files)"},
          {"--data-root", "FROM=TO", "where the trainer's folder FROM is here (repeatable)"},
          {"--python-path", "DIR[:DIR...]",
           "where modules with functions in Python are (default: where the job says)"},
          {"--dir", "DIR", "where to keep an index (default: in the job's folder)"},
          {"--grace", "T", "to finish what it has when asked to stop (default 5s)"},
          {"--patience", "T", "how long to look for a head that takes it (default 10m)"},
          {"--expendable", "",
           "end with 0 when refused, too: for launchers that end all when one fails"},
          kMetricsOption,
          kJsonOption},
     .example = "  forebay worker --join 10.0.0.1:29400 --keys keys\n"
                "  forebay worker --join ./.forebay/address --data-root /data=/mnt/data\n"
                "  forebay worker --join 127.0.0.1:29400 --name n1 --actors libcounter.so --ship\n"
                "  forebay worker --join 127.0.0.1:29400 --name n2 --accept-shipped",
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
    {.name = "launch",
     .summary = "writes what starts a job on a cluster, for you to read, edit and run",
     .argument = "slurm|k8s|ssh JOB",
     .options = {{"--out", "DIR", "folder to write to (default: .forebay/launch of the job)"},
                 {"--command", "train|ingest", "what to run (default train)"},
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
         "  forebay keys new keys\n"
         "  forebay launch k8s job.toml --workers 4 --image registry/forebay:1 --claim ads \\\n"
         "                              --set cluster.keys=keys",
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
     .options = {{"--command", "train|ingest", "what rank 0 does (default train)"},
                 {"--port", "P", "the head's port (default: by the job's number)"},
                 kSetOption,
                 {"--resume", "", "train: go on from the last complete checkpoint"},
                 {"--restart", "", "train: start anew over existing checkpoints"},
                 kJsonOption},
     .example = "  srun --ntasks-per-node=1 --kill-on-bad-exit forebay symmetric-run job.toml\n"
                "  mpirun -n 4 forebay symmetric-run job.toml --command ingest --json",
     .run = run_symmetric},
};

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

}  // namespace forebay
