#include <bit>
#include <utility>

#include "core/base/clock.h"
#include "engine/process/machine.h"
#include "tools/bench/bench_data.h"
#include "tools/bench/ranks_bench.h"
#include "tools/bench/save_bench.h"
#include "tools/bench/table_bench_run.h"
#include "tools/bench/threads_bench.h"
#include "tools/command/bench_parts.h"
#include "tools/process/own_path.h"
#include "tools/process/stop_request.h"

namespace forebay {
namespace {

/// Common setup of benchmarks that start trainers of their own.
struct TrainersBench {
  std::string program;  ///< Path of this program.
  BenchData data;
  int rounds = 0;
};

Result<TrainersBench> trainers_bench_of(const Invocation& invocation, std::uint64_t usual_rows,
                                        std::uint64_t usual_rounds) {
  auto rows = bench_count(invocation, "--rows", usual_rows);
  auto rounds = bench_count(invocation, "--rounds", usual_rounds);
  if (!rounds) return pass(rounds);
  if (!rows) return pass(rows);
  auto program = own_path();
  if (!program) return pass(program);
  auto data = BenchData::make(*rows);
  if (!data) return pass(data);
  return TrainersBench{std::move(*program), std::move(*data), static_cast<int>(*rounds)};
}

}  // namespace

BenchFigures table_figures(const Invocation& invocation) {
  auto rows = bench_count(invocation, "--rows", std::uint64_t{1} << 20);
  auto rounds = bench_count(invocation, "--rounds", 3);
  if (!rows) return pass(rows);
  if (!rounds) return pass(rounds);
  return run_table_bench({.table_rows = static_cast<std::int64_t>(std::bit_ceil(*rows)),
                          .rounds = *rounds,
                          .small_network = invocation.has("--small")});
}

BenchFigures checkpoint_figures(const Invocation& invocation) {
  auto rounds = bench_count(invocation, "--rounds", 3);
  if (!rounds) return pass(rounds);
  return bench_saving(
      {.rounds = static_cast<int>(*rounds), .stopped = [] { return StopRequest::requested(); }},
      SystemClock());
}

BenchFigures threads_figures(const Invocation& invocation) {
  auto bench = trainers_bench_of(invocation, 200'000, 3);
  if (!bench) return pass(bench);
  return run_threads_bench({.program = bench->program,
                            .folder = bench->data.folder(),
                            .cpus = available_cpus(),
                            .rounds = bench->rounds,
                            .epochs = 3,
                            .stopped = [] { return StopRequest::requested(); }});
}

BenchFigures ranks_figures(const Invocation& invocation) {
  auto bench = trainers_bench_of(invocation, 300'000, 5);
  if (!bench) return pass(bench);
  RanksBenchOptions options;
  options.program = bench->program;
  options.folder = bench->data.folder();
  options.rounds = bench->rounds;
  options.small_network = invocation.has("--small");
  options.stopped = [] { return StopRequest::requested(); };
  return run_ranks_bench(options);
}

}  // namespace forebay
