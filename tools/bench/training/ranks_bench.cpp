#include <algorithm>
#include <memory>
#include <utility>

#include "core/data/buffer_pool.h"
#include "core/net/host_port.h"
#include "engine/process/machine.h"
#include "engine/ranks/batch_slice.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"
#include "trainer/collective.h"
#include "trainer/module.h"
#include "trainer/ranks/batch_divider.h"
#include "trainer/ranks/placement.h"
#include "trainer/train_bench.h"

namespace forebay {
namespace {

constexpr std::size_t kBatchRows = 8192;      // rows of a global batch
constexpr std::int64_t kTableRows = 1 << 16;  // of each of 26 tables; a power of two
constexpr std::uint64_t kMeasuredSteps = 8;   // of each round
constexpr std::uint64_t kRankBatches = 4;
constexpr std::uint64_t kAhead = 2;
constexpr std::uint64_t kSettle = 4;

using Batches = std::vector<std::shared_ptr<const Batch>>;

/// A DLRM that trains in its own process, on one CPU with one thread.
struct BenchTrainer {
  ZipfBatches::Options batches;  ///< Whole batches, made before the first step.
  bool small_network = false;    ///< The default MLPs instead of those published for Criteo.
  CollectiveSpec ranks;          ///< With more than one rank, it trains on its share of each batch.
  int place = 0;                 ///< Index of its CPU.
};

/// This rank's rows of the batches, and the ids that are prefetched for them.
struct Dealt {
  Batches rows;
  Batches expected;
};

Result<Dealt> make_batches(const BenchTrainer& trainer, BufferPool& pool) {
  const ZipfBatches whole(trainer.batches);
  const CollectiveSpec& ranks = trainer.ranks;
  const std::vector<std::int64_t> tables(trainer.batches.features, trainer.batches.table_rows);
  const TablePlacement placement =
      place_tables(tables, TrainerSpec::Tables().placement, ranks.size);
  BatchDivider divider(tables, shards_of_rank(placement, ranks.rank), ranks.size);
  Dealt made;
  made.rows.reserve(kRankBatches);
  made.expected.reserve(kRankBatches);
  for (std::uint64_t number = 0; number < kRankBatches; ++number) {
    const auto batch = whole.make(number);
    const auto [first, end] = rows_of_rank(batch->rows, ranks.rank, ranks.size);
    made.rows.push_back(slice_rows(*batch, first, end, pool));
    if (ranks.size == 1) {
      made.expected.push_back(made.rows.back());
      continue;
    }
    if (auto divided = divider.divide(*batch); !divided) return pass(divided);
    made.expected.push_back(copy_ids(divider.sharded(), pool));
  }
  return made;
}

Status take_steps(Model& model, const Dealt& batches, std::uint64_t steps) {
  std::uint64_t announced = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    // A few batches ahead only: batches are reused after kRankBatches.
    for (; announced < std::min(step + kAhead, steps); ++announced) {
      model.prefetch(batches.expected[announced % kRankBatches]);
    }
    auto trained = model.step(*batches.rows[step % kRankBatches]);
    if (!trained) return pass(trained);
  }
  return {};
}

/// Says 0 after a few warm-up steps. Then reads numbers of steps, trains them and answers with the
/// seconds they took, until the other side closes.
Status serve(const BenchTrainer& trainer, const BenchProcess::Lines& lines) {
  const CpuLimit cpu(trainer.place);
  if (auto kept = cpu.set(1); !kept) return kept;
  auto torch = open_trainer();
  if (!torch) return pass(torch);
  std::unique_ptr<Collective> ranks;
  if (trainer.ranks.size > 1) {
    auto store = (*torch)->open_rank_store(trainer.ranks);
    if (!store) return pass(store);
    auto met = (*store)->connect();
    if (!met) return pass(met);
    ranks = std::move(*met);
  }
  const TrainerSpec spec = bench_model(trainer.batches.table_rows, trainer.small_network);
  auto shape = shape_of(spec, schema_of(trainer.batches));
  if (!shape) return pass(shape);
  auto model = make_model(spec, *shape, ranks.get());
  if (!model) return pass(model);
  MemoryBudget budget(~std::size_t{0});
  BufferPool pool(budget);
  const auto batches = make_batches(trainer, pool);
  if (!batches) return fail(batches.error().code, batches.error().message);
  if (auto settled = take_steps(**model, *batches, kSettle); !settled) return settled;
  lines.write("0");
  for (std::string asked = lines.read(); !asked.empty(); asked = lines.read()) {
    const Stopwatch watch;
    auto trained = take_steps(**model, *batches, std::stoull(asked));
    if (!trained) return trained;
    lines.write(std::to_string(watch.seconds()));
  }
  return {};
}

constexpr int kRanks = 2;

/// Trainers that start and end each round together; all together train a global batch in a step.
class Team {
 public:
  Team() = default;
  /// Trainers that were started later hold the pipe of an earlier one open, so closing it is not
  /// enough: an empty line ends it.
  ~Team() {
    for (const BenchProcess& trainer : trainers_) trainer.lines().write("");
  }
  Team(Team&&) = default;
  Team& operator=(Team&&) = delete;

  /// Starts the trainers and waits until all have trained their warm-up steps.
  Status start(const std::vector<BenchTrainer>& trainers);
  /// Returns the rows/s of a few steps.
  Result<double> rate() const;

 private:
  /// Returns the largest of the numbers that the trainers say.
  Result<double> largest_said() const;

  std::vector<BenchProcess> trainers_;
};

Result<double> Team::largest_said() const {
  double largest = 0;
  for (const BenchProcess& trainer : trainers_) {
    auto said = trainer.lines().read_number();
    if (!said) return said;
    largest = std::max(largest, *said);
  }
  return largest;
}

Status Team::start(const std::vector<BenchTrainer>& trainers) {
  trainers_.reserve(trainers.size());
  for (const BenchTrainer& trainer : trainers) {
    auto started = BenchProcess::start([&trainer](const BenchProcess::Lines& lines) {
      auto served = serve(trainer, lines);
      if (!served) lines.write(served.error().message);
    });
    if (!started) return pass(started);
    trainers_.push_back(std::move(*started));
  }
  auto stands = largest_said();
  return stands ? Status() : Status(pass(stands));
}

Result<double> Team::rate() const {
  for (const BenchProcess& trainer : trainers_) {
    trainer.lines().write(std::to_string(kMeasuredSteps));
  }
  auto longest = largest_said();
  if (!longest) return longest;
  return static_cast<double>(kMeasuredSteps * kBatchRows) / *longest;
}

BenchTrainer trainer_of(const BenchOptions& options, std::size_t batch_rows, int place) {
  BenchTrainer trainer;
  trainer.batches.rows = batch_rows;
  trainer.batches.table_rows = kTableRows;
  trainer.small_network = options.small_network;
  trainer.place = place;
  return trainer;
}

/// Starts three teams: one trainer, two independent ones, two that train together.
Result<std::vector<Team>> start_teams(const BenchOptions& options) {
  std::vector<std::vector<BenchTrainer>> teams{{trainer_of(options, kBatchRows, 0)}, {}, {}};
  auto port = free_port();
  if (!port) return pass(port);
  for (int rank = 0; rank < kRanks; ++rank) {
    teams[1].push_back(trainer_of(options, kBatchRows / kRanks, rank));
    BenchTrainer together = trainer_of(options, kBatchRows, rank);
    together.ranks.rank = rank;
    together.ranks.size = kRanks;
    together.ranks.port = *port;
    together.ranks.opens_store = rank == 0;
    teams[2].push_back(together);
  }
  std::vector<Team> started;
  started.reserve(teams.size());
  for (const auto& trainers : teams) {
    auto stands = started.emplace_back().start(trainers);
    if (!stands) return pass(stands);
  }
  return started;
}

Result<std::string> write_ranks_job(const BenchFolder& data, const BenchOptions& options) {
  std::string settings = "[order]\nbatch_size = " + std::to_string(kBatchRows) +
                         "\n[pipeline]\nmemory = \"2GiB\"\n"
                         "[trainer]\nthreads = 1\ncheckpoint = \"\"\n"
                         "embedding_dim = 32\nmax_table_rows = " +
                         std::to_string(kTableRows) + "\n";
  if (!options.small_network) {
    settings += "bottom_mlp = [512, 256, 64, 32]\ntop_mlp = [512, 256, 1]\n";
  }
  return write_job(data, 1'000'000, settings);
}

/// Returns the command of one launch.
Result<std::string> command_of(const std::string& program, const std::string& job, int ranks) {
  const std::string train = "'" + program + "' train '" + job + "'";
  if (ranks == 1) return train + " --json 2>/dev/null";
  auto port = free_port();
  if (!port) return pass(port);
  std::string command = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(*port);
  const std::string size = std::to_string(ranks);
  command.append(" WORLD_SIZE=" + size + " LOCAL_WORLD_SIZE=" + size + "; ");
  for (int rank = ranks - 1; rank > 0; --rank) {
    command.append("RANK=" + std::to_string(rank) + " " + train + " >/dev/null 2>&1 & ");
  }
  return command + "RANK=0 " + train + " --json 2>/dev/null; ended=$?; wait; exit $ended";
}

}  // namespace

BenchResults bench_ranks(const BenchOptions& options) {
  auto data = made_up_rows(options.rows);
  if (!data) return pass(data);
  Measurements all;
  {
    auto teams = start_teams(options);
    if (!teams) return pass(teams);
    auto measured = each_round(options.rounds, [&]() -> Status {
      for (const auto& [index, name] : {std::pair{0U, "one"}, {1U, "apart"}, {2U, "together"}}) {
        if (auto added = all.add(name, (*teams)[index].rate()); !added) return added;
      }
      return {};
    });
    if (!measured) return pass(measured);
  }
  auto job = write_ranks_job(*data, options);
  if (!job) return pass(job);
  auto measured = each_round(options.rounds, [&]() -> Status {
    for (const auto& [ranks, name] : {std::pair{1, "job_of_one"}, {kRanks, "job_of_two"}}) {
      auto command = command_of(options.program, *job, ranks);
      if (!command) return pass(command);
      if (auto added = all.add(name, rate_said_by(*command)); !added) return added;
    }
    return {};
  });
  if (!measured) return pass(measured);
  const auto against = [&](const char* name, const char* value, const char* limit) {
    return BenchResult::over(name, all[value], "rows/s", all[limit]);
  };
  return std::vector<BenchResult>{against("ranks_2", "together", "one"),
                                  against("ranks_2_of_apart", "together", "apart"),
                                  against("ranks_2_job", "job_of_two", "job_of_one")};
}

}  // namespace forebay
