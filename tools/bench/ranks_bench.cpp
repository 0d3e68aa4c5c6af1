#include "tools/bench/ranks_bench.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "core/base/median.h"
#include "core/net/free_port.h"
#include "tools/bench/bench_trainer.h"
#include "tools/bench/other_program.h"

namespace forebay {
namespace {

constexpr int kRanks = 2;

/// Trainers that start and end each round together; all together train `rows_a_step` rows in a
/// step.
class Team {
 public:
  explicit Team(std::size_t rows_a_step) : rows_a_step_(rows_a_step) {}
  /// Trainers that were started later hold the pipe of an earlier one open, so closing it is not
  /// enough: an empty line ends it.
  ~Team() {
    for (const WireBenchProcess& trainer : trainers_) trainer.lines().write("");
  }
  Team(Team&&) = default;
  Team& operator=(Team&&) = delete;

  Status start(const std::vector<BenchTrainer>& trainers);
  Status take_turn(std::uint64_t steps);
  /// Rows/s of each turn.
  const std::vector<double>& rates() const { return rates_; }

 private:
  const std::size_t rows_a_step_;
  std::vector<WireBenchProcess> trainers_;
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
  for (const WireBenchProcess& trainer : trainers_) {
    if (auto stands = wait_until_it_stands(trainer); !stands) return stands;
  }
  return {};
}

Status Team::take_turn(std::uint64_t steps) {
  for (const WireBenchProcess& trainer : trainers_) begin_steps(trainer, steps);
  double longest = 0;
  for (const WireBenchProcess& trainer : trainers_) {
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
  std::ofstream file(path);
  file << "[dataset]\npaths = [\"*.tsv\"]\n[order]\nbatch_size = " << options.batch_rows
       << "\n[pipeline]\nmemory = \"2GiB\"\n[trainer]\nthreads = 1\ncheckpoint = \"\"\n"
       << "embedding_dim = 32\nmax_table_rows = " << options.table_rows << "\n";
  if (!options.small_network) {
    file << "bottom_mlp = [512, 256, 64, 32]\ntop_mlp = [512, 256, 1]\n";
  }
  file << "[[transform]]\nop = \"log1p\"\ncolumns = [\"I*\"]\n"
          "[[transform]]\nop = \"sigrid_hash\"\ncolumns = [\"C*\"]\nmax_value = 1000000\n";
  file.flush();
  return file ? Status{} : fail(Code::kUnavailable, path + ": cannot be written");
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
