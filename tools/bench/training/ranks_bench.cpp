#include "tools/bench/training/ranks_bench.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/base/whole_file.h"
#include "core/data/buffer_pool.h"
#include "core/data/memory_budget.h"
#include "core/net/host_port.h"
#include "engine/process/machine.h"
#include "engine/ranks/batch_slice.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/training/bench_model.h"
#include "trainer/collective.h"
#include "trainer/module.h"
#include "trainer/ranks/batch_divider.h"
#include "trainer/ranks/placement.h"
#include "trainer/table_bench.h"

namespace forebay {
namespace {

constexpr std::uint64_t kRankBatches = 4;
constexpr std::uint64_t kAhead = 2;
constexpr std::uint64_t kSettle = 4;
constexpr const char* kStands = "stands";

using Batches = std::vector<std::shared_ptr<const Batch>>;

/// A DLRM that trains in its own process, on one CPU with one thread.
struct BenchTrainer {
  ZipfBatches::Options batches;  ///< Whole batches, made before the first step.
  bool small_network = false;    ///< The default MLPs instead of those published for Criteo.
  CollectiveSpec ranks;          ///< With more than one rank, it trains on its share of each batch.
  int place = 0;                 ///< Index of its CPU.
};

Result<std::unique_ptr<Model>> make_model_of(const BenchTrainer& trainer, Collective* ranks) {
  const TrainerSpec spec = bench_model(trainer.batches.table_rows, trainer.small_network);
  auto shape = shape_of(spec, schema_of(trainer.batches));
  if (!shape) return pass(shape);
  return make_model(spec, *shape, ranks);
}

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
  BatchDivider divider(tables, shards_of_rank(placement, ranks.rank));
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

/// Reads numbers of steps, trains them and answers with the seconds they took, until the other side
/// closes.
Status serve(const BenchTrainer& trainer, const BenchProcess::Lines& lines) {
  const CpuLimit cpu(trainer.place);
  if (auto kept = cpu.set(1); !kept) return kept;
  auto torch = open_trainer();
  if (!torch) return pass(torch);
  std::unique_ptr<Collective> ranks;
  if (trainer.ranks.size > 1) {
    auto met = (*torch)->make_collective(trainer.ranks);
    if (!met) return pass(met);
    ranks = std::move(*met);
  }
  auto model = make_model_of(trainer, ranks.get());
  if (!model) return pass(model);
  MemoryBudget budget(~std::size_t{0});
  BufferPool pool(budget);
  const auto batches = make_batches(trainer, pool);
  if (!batches) return fail(batches.error().code, batches.error().message);
  if (auto settled = take_steps(**model, *batches, kSettle); !settled) return settled;
  lines.write(kStands);
  const SystemClock clock;
  for (std::string asked = lines.read(); !asked.empty(); asked = lines.read()) {
    const auto began = clock.now();
    auto trained = take_steps(**model, *batches, std::stoull(asked));
    if (!trained) return trained;
    const std::chrono::duration<double> took = clock.now() - began;
    lines.write(std::to_string(took.count()));
  }
  return {};
}

Error failure(const std::string& said) {
  return {Code::kUnavailable, said.empty() ? "a process of the benchmark ended"
                                           : "a process of the benchmark: " + said};
}

/// Starts the trainer; it ends when the returned object is destroyed.
Result<BenchProcess> start_trainer(const BenchTrainer& trainer) {
  return BenchProcess::start([&trainer](const BenchProcess::Lines& lines) {
    auto served = serve(trainer, lines);
    if (!served) lines.write(served.error().message);
  });
}

/// Waits until it has trained a few warm-up steps. All of its ranks must have been started before.
Status wait_until_it_stands(const BenchProcess& trainer) {
  const std::string said = trainer.lines().read();
  return said == kStands ? Status() : Status(tl::unexpected<Error>(failure(said)));
}

/// Starts `steps` steps; finish_steps() returns the seconds that they took, or why they failed.
void begin_steps(const BenchProcess& trainer, std::uint64_t steps) {
  trainer.lines().write(std::to_string(steps));
}

Result<double> finish_steps(const BenchProcess& trainer) {
  const std::string said = trainer.lines().read();
  double seconds = 0;
  const auto read = std::from_chars(said.data(), said.data() + said.size(), seconds);
  if (said.empty() || read.ptr != said.data() + said.size()) {
    return tl::unexpected<Error>(failure(said));
  }
  return seconds;
}

constexpr int kRanks = 2;

/// Trainers that start and end each round together; all together train `rows_a_step` rows in a
/// step.
class Team {
 public:
  explicit Team(std::size_t rows_a_step) : rows_a_step_(rows_a_step) {}
  /// Trainers that were started later hold the pipe of an earlier one open, so closing it is not
  /// enough: an empty line ends it.
  ~Team() {
    for (const BenchProcess& trainer : trainers_) trainer.lines().write("");
  }
  Team(Team&&) = default;
  Team& operator=(Team&&) = delete;

  Status start(const std::vector<BenchTrainer>& trainers);
  Status take_turn(std::uint64_t steps);
  /// Rows/s of each turn.
  const std::vector<double>& rates() const { return rates_; }

 private:
  const std::size_t rows_a_step_;
  std::vector<BenchProcess> trainers_;
  std::vector<double> rates_;
};

BenchTrainer trainer_of(const RanksBenchOptions& options, std::size_t batch_rows, int place) {
  BenchTrainer trainer;
  trainer.batches.rows = batch_rows;
  trainer.batches.table_rows = options.table_rows;
  trainer.small_network = options.small_network;
  trainer.place = place;
  return trainer;
}

Status Team::start(const std::vector<BenchTrainer>& trainers) {
  trainers_.reserve(trainers.size());
  for (const BenchTrainer& trainer : trainers) {
    auto started = start_trainer(trainer);
    if (!started) return pass(started);
    trainers_.push_back(std::move(*started));
  }
  for (const BenchProcess& trainer : trainers_) {
    if (auto stands = wait_until_it_stands(trainer); !stands) return stands;
  }
  return {};
}

Status Team::take_turn(std::uint64_t steps) {
  for (const BenchProcess& trainer : trainers_) begin_steps(trainer, steps);
  double longest = 0;
  for (const BenchProcess& trainer : trainers_) {
    auto took = finish_steps(trainer);
    if (!took) return pass(took);
    longest = std::max(longest, *took);
  }
  rates_.push_back(static_cast<double>(steps * rows_a_step_) / longest);
  return {};
}

/// Starts three teams: one trainer, two independent ones, two that train together.
Result<std::vector<Team>> start_teams(const RanksBenchOptions& options) {
  const std::size_t rows = options.batch_rows;
  std::vector<std::vector<BenchTrainer>> teams{{trainer_of(options, rows, 0)}, {}, {}};
  auto port = free_port();
  if (!port) return pass(port);
  for (int rank = 0; rank < kRanks; ++rank) {
    teams[1].push_back(trainer_of(options, rows / kRanks, rank));
    BenchTrainer together = trainer_of(options, rows, rank);
    together.ranks.rank = rank;
    together.ranks.size = kRanks;
    together.ranks.port = *port;
    together.ranks.opens_store = rank == 0;
    teams[2].push_back(together);
  }
  std::vector<Team> started;
  started.reserve(teams.size());
  for (const auto& trainers : teams) {
    auto stands = started.emplace_back(rows).start(trainers);
    if (!stands) return pass(stands);
  }
  return started;
}

Status write_job(const std::string& path, const RanksBenchOptions& options) {
  std::string text = "[dataset]\npaths = [\"*.tsv\"]\n[order]\nbatch_size = " +
                     std::to_string(options.batch_rows) +
                     "\n[pipeline]\nmemory = \"2GiB\"\n[trainer]\nthreads = 1\ncheckpoint = \"\"\n"
                     "embedding_dim = 32\nmax_table_rows = " +
                     std::to_string(options.table_rows) + "\n";
  if (!options.small_network) {
    text += "bottom_mlp = [512, 256, 64, 32]\ntop_mlp = [512, 256, 1]\n";
  }
  text +=
      "[[transform]]\nop = \"log1p\"\ncolumns = [\"I*\"]\n"
      "[[transform]]\nop = \"sigrid_hash\"\ncolumns = [\"C*\"]\nmax_value = 1000000\n";
  return replace_whole(path, text, Sync::kNo);
}

/// Returns the command of one launch.
Result<std::string> command_of(const RanksBenchOptions& options, const std::string& job,
                               int ranks) {
  const std::string train = "'" + options.program + "' train '" + job + "'";
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

Result<double> job_rate(const RanksBenchOptions& options, const std::string& job, int ranks) {
  auto command = command_of(options, job, ranks);
  if (!command) return pass(command);
  auto said = numbers_said_by(*command);
  if (!said) return pass(said);
  return (*said)["rows_per_second"];
}

BenchResult against(const char* name, double value, double limit) {
  return {name, value, "rows/s", limit, value / limit};
}

Result<std::vector<BenchResult>> bench_jobs(const RanksBenchOptions& options) {
  const std::string job = options.folder + "/ranks.toml";
  if (auto written = write_job(job, options); !written) return pass(written);
  std::vector<double> one, two;
  for (int round = 0; round < options.rounds && !options.stopped(); ++round) {
    for (const int ranks : {1, kRanks}) {
      auto rate = job_rate(options, job, ranks);
      if (!rate) return pass(rate);
      (ranks == 1 ? one : two).push_back(*rate);
    }
  }
  if (one.size() != two.size() || one.empty()) return std::vector<BenchResult>();
  return std::vector<BenchResult>{against("ranks_2_job", median(two), median(one))};
}

}  // namespace

Result<std::vector<BenchResult>> run_ranks_bench(const RanksBenchOptions& options) {
  std::vector<BenchResult> results;
  {
    auto teams = start_teams(options);
    if (!teams) return pass(teams);
    for (int round = 0; round < options.rounds && !options.stopped(); ++round) {
      for (Team& team : *teams) {
        if (auto turn = team.take_turn(options.steps); !turn) return pass(turn);
      }
    }
    if (teams->back().rates().empty()) return results;
    const double one = median((*teams)[0].rates());
    const double apart = median((*teams)[1].rates());
    const double together = median((*teams)[2].rates());
    results = {against("ranks_2", together, one), against("ranks_2_of_apart", together, apart)};
  }
  if (options.folder.empty()) return results;
  auto jobs = bench_jobs(options);
  if (!jobs) return jobs;
  results.insert(results.end(), jobs->begin(), jobs->end());
  return results;
}

}  // namespace forebay
