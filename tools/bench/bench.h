#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/spec.h"

namespace forebay {

/// One line of `forebay bench`: the measured value, and the limit measured in the same run.
struct BenchResult {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> limit = {};  ///< The limit's value, in the same unit.
  std::optional<double> ratio = {};  ///< value / limit, or limit / value if smaller is better.

  static BenchResult over(std::string name, double value, std::string unit, double limit) {
    return {std::move(name), value, std::move(unit), limit, value / limit};
  }
  static BenchResult under(std::string name, double value, std::string unit, double limit) {
    return {std::move(name), value, std::move(unit), limit, value > 0 ? limit / value : 0};
  }
};

using BenchResults = Result<std::vector<BenchResult>>;

/// What the user of a benchmark may choose. Each benchmark uses some of these values.
struct BenchOptions {
  std::uint64_t rows = 1;      ///< Rows of the made-up data; for tables, rows of each table.
  int rounds = 3;              ///< Each measures everything once; the figures are medians.
  bool growth = false;         ///< Also measures at a tenth of the rows.
  bool small_network = false;  ///< The default MLPs instead of those published for Criteo.
  /// The loader's folder (tests/bench/public), or the program that runs the same workloads on CAF.
  std::optional<std::string> other = {};
  std::string program = {};    ///< forebay itself, for benchmarks that start processes.
  std::string device = "cpu";  ///< Of the model that `train` trains.
  TrainerSpec::ModelKind model = TrainerSpec::ModelKind::kDlrm;  ///< What `train` trains.
  std::uint64_t batch_size = 0;  ///< Of the batches for `train`; 0: the default of a job.
  std::string only = {};  ///< The only row, or of `store` the only part, to measure; empty: all.
  double request_price = 0.0004;   ///< Of a store, in dollars for 1,000 requests.
  double byte_price = 0;           ///< The same, for a GB.
  std::uint64_t connections = 64;  ///< Requests in flight of jobs on a store.
};

// Each benchmark fails with kUnavailable if the user stops it. Those that fork are called before
// any thread is started.

/// Measures decoding against copying the same bytes, each stage alone, and the whole pipeline
/// against the same pure functions in a plain loop on as many threads; all interleaved. With
/// `other`, also the public loader in that folder, and with `growth` the pipeline at a tenth of the
/// rows.
BenchResults bench_ingest(const BenchOptions& options);

/// Measures reading Parquet files that it writes, in three layouts (tools/bench/parquet): `dlrm`,
/// 40 of 200 columns of 1 to 8 bytes; `flights`, dictionaries of numbers and text; `lists`, four
/// lists of 0 to 30 ids. Of each: decoding alone on one CPU, whole pipelines to batches of 16,384
/// rows, shuffled against in file order, and the bytes read against the wanted ones; for `dlrm`
/// also 20 columns against all. With `other`, new runs against pyarrow and numpy in that folder, in
/// rows/s and CPU, after both have made the same rows. Interleaved; the files are in the page
/// cache.
BenchResults bench_parquet(const BenchOptions& options);

/// Measures training with the pipeline's batches, compared with training on one cached batch: on
/// the CPU with one CPU left to the pipeline and with all CPUs for the model, on a GPU once.
BenchResults bench_train(const BenchOptions& options);

/// Measures the actor runtime's workloads, each in its own actor system: `fan_in`, 4 actors that
/// send to one, messages/s; `ping_pong` of a pair, round trips/s; `spawn`, actors that are started
/// and ended, actors/s; `pool_handoff`, 4 pools in a chain that only pass on tokens of 1 MiB,
/// nanoseconds of CPU a token and pool. Interleaved with the same workloads of the program `other`
/// (caf_runtime, built from tests/bench if CAF is installed).
BenchResults bench_runtime(const BenchOptions& options);

/// Measures the cost of tuning by intune, or by greedy in a build without intune, in CPU time of
/// one core, compared with its limits: `simulator_steps`, splits through stages a second, and the
/// same with three scarce resources on one node (`_shared`) and on 16 (`_nodes`);
/// `decision` of the policy, `guard_step` and `plan` (the best allocation for known costs), in
/// seconds; `tuner_cpu`, the share of a core used by one decision every 2 s and ten guard steps a
/// second.
BenchResults bench_tuner(const BenchOptions& options);

/// Measures actors' messages between two processes over TCP loopback, interleaved with raw ZeroMQ
/// that does the same: `tell`, `ask`, `batches`, and the last two with CURVE. Forks.
BenchResults bench_messages(const BenchOptions& options);

/// Measures the cost of stages in another process, on Criteo rows and their usual transforms:
///
/// `bytes_per_row`: bytes of a row as a worker packs it, compared with 64-bit ids and 32-bit
/// lengths. `remote_cpu_per_row`: CPU of an `ingest` and the one worker that makes all its splits,
/// minus that of the same `ingest` alone, in ns a row; the limit is the CPU of two processes that
/// move the same bytes with ZeroMQ alone. `remote_cpu_per_row_curve`: both with keys. Interleaved;
/// includes start-up. Forks.
BenchResults bench_remote(const BenchOptions& options);

/// Measures `scaling_2`, `scaling_4`, `scaling_8`, the splits a second that emulated workers
/// deliver (the limit is 2, 4 or 8 times one worker's rate), and `death_to_reissue`, the seconds
/// from SIGKILL of a worker's process until another worker has begun the last of its splits, with
/// the default heartbeat and lease. Forks.
BenchResults bench_clusters(const BenchOptions& options);

/// Measures `head_leases` (100 workers) and `head_leases_1000`, the splits a second that a head
/// leases; `store_recovery`, the seconds to open its store below TMPDIR. The head is the real
/// HeadActor with its journal in memory, with one actor for each worker and one for the split
/// client, in one process: includes joins, heartbeats, Issue, Lease and Arrived; excludes the
/// network.
BenchResults bench_head(const BenchOptions& options);

/// Measures the gain from a second trainer on a second CPU. Both have one thread and train on
/// halves of the same batches, with the tables divided between them, over Gloo:
///
///   ranks_2           rows/s of two, compared with one; batches are made beforehand
///   ranks_2_of_apart  rows/s of two, compared with two independent trainers, each with a whole
///                     model and batches of half the size: the most that this machine allows for
///                     two
///   ranks_2_job       rows/s of `forebay train` with two ranks, compared with one, pipeline
///                     included, with the same job file on all CPUs
///
/// Each trainer is a process; interleaved. Forks.
BenchResults bench_ranks(const BenchOptions& options);

/// Measures a model that shares the CPUs with its pipeline: the default number of threads, compared
/// with a number that is searched for during training, with one thread fewer and one more. Three
/// jobs: a small model, a large model, and expensive transforms. Interleaved. Writes the rate of
/// each run to stderr.
BenchResults bench_threads(const BenchOptions& options);

/// Measures the cost of a checkpoint of a DLRM of 1 GiB in the current folder:
///
///   checkpoint_write     bytes/s of writing it until all is on the disk; compared with a plain
///                        sequential write and fsync of as many bytes
///   checkpoint_read      bytes/s of loading and checking it; compared with a plain read of as
///                        many bytes
///   checkpoint_overhead  seconds for 100 steps with a checkpoint that begins at the first step and
///                        ends at the last; compared with as many steps without one
///
/// All past the page cache, so the disk's own speed counts. Interleaved.
BenchResults bench_checkpoint(const BenchOptions& options);
/// Removes what a bench_checkpoint that was ended has left in the current folder.
void remove_bench_checkpoints();

/// Measures tables of dimension 32 that need 20 times their memory limit, compared with tables in
/// memory, on batches of 8192 rows with one model thread: with every row on the disk, and with most
/// rows looked up for the first time. Prints on stderr where it writes.
BenchResults bench_tiers(const BenchOptions& options);

/// Measures reading a store of its own, 60 ms away (120 ms for one request in a thousand).
///
/// Part `transfer` reads a file of `rows` MiB in parts of 8 MiB, 64 in flight, interleaved with a
/// plain recv loop over the same bytes:
///
///   store                       MB/s; the limit is the plain loop's
///   store_cpu                   CPU seconds a GiB, without the server's; the limit, too
///   store_requests              requests; the limit is the file's parts
///   store_with_faults           seconds when 5 % of the requests get 503 and 1 % of the bodies
///                               stall, compared with the time without faults
///   store_requests_with_faults  requests, then
///
/// Part `criteo` runs a job on `rows` thousand Criteo rows as Parquet, all columns, the usual
/// transforms, pipeline.memory = "1GiB", from the store and from the disk beside the idle server:
/// `store_criteo`, rows/s, and `store_criteo_cpu`, CPU of a row; the limits are the disk's. Part
/// `dlrm` does so with 40 of 200 columns (`store/dlrm_files.h`) and half as many rows, with `other`
/// also by polars, and gives
///
///   store_dlrm_dollars   dollars for a billion rows at the options' prices, of all requests of the
///                        job; the limit is the cheapest way to fetch each row group's chunks
///   store_dlrm_requests  requests a row group; of that way
///   store_dlrm_bytes     bytes a row; the limit is what is wanted
///   dollars_gap_NKiB     dollars where gaps up to N KiB are read along
///
/// Forks.
BenchResults bench_store(const BenchOptions& options);

}  // namespace forebay
