#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/base/result.h"
#include "engine/process/machine.h"
#include "engine/report/json_object.h"
#include "tools/bench/bench_data.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/cluster/cluster_bench.h"
#include "tools/bench/cluster/head_bench.h"
#include "tools/bench/cluster/remote_bench.h"
#include "tools/bench/cluster/wire_bench.h"
#include "tools/bench/ingest_bench.h"
#include "tools/bench/runtime_bench.h"
#include "tools/bench/training/ranks_bench.h"
#include "tools/bench/training/save_bench.h"
#include "tools/bench/training/table_bench.h"
#include "tools/bench/training/threads_bench.h"
#include "tools/bench/tuner_bench.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/process/paths.h"
#include "tools/process/standard_streams.h"
#include "tools/process/stop_request.h"
#include "trainer/module.h"
#include "trainer/train_bench.h"
#include "tuner/policy/policies.h"

namespace forebay {
namespace {

using BenchFigures = Result<std::vector<BenchResult>>;

/// The values of `--rows` and `--rounds`, or what is usual for a part.
struct BenchSize {
  std::uint64_t rows = 0;
  std::uint64_t rounds = 0;

  int whole_rounds() const { return static_cast<int>(rounds); }
};

Result<BenchSize> size_of(const Invocation& invocation, const BenchSize& usual) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  auto rows = count_of(invocation, "--rows", 1, kMost, usual.rows);
  if (!rows) return pass(rows);
  auto rounds = count_of(invocation, "--rounds", 1, kMost, usual.rounds);
  if (!rounds) return pass(rounds);
  return BenchSize{*rows, *rounds};
}

/// log1p on the integers, sigrid_hash on the tokens: the transforms of the published figures.
Result<TransformPlan> usual_transforms(const Schema& schema) {
  TransformSpec log1p{"log1p", {"I*"}, {}};
  TransformSpec hash{"sigrid_hash", {"C*"}, {{"max_value", std::int64_t{1'000'000}}}};
  return TransformPlan::compile({log1p, hash}, schema);
}

/// Made-up rows and the objects that process them.
struct UsualWork {
  BenchData data;
  std::unique_ptr<Dataset> dataset;
  TransformPlan plan;
};

Result<UsualWork> usual_work(std::uint64_t rows) {
  auto data = BenchData::make(rows);
  if (!data) return pass(data);
  auto dataset = data->open();
  if (!dataset) return pass(dataset);
  auto plan = usual_transforms((*dataset)->format().schema());
  if (!plan) return pass(plan);
  return UsualWork{std::move(*data), std::move(*dataset), std::move(*plan)};
}

const BenchResult& pipeline_of(const std::vector<BenchResult>& results) {
  return *std::find_if(results.begin(), results.end(),
                       [](const BenchResult& result) { return result.name == "pipeline"; });
}

IngestBenchOptions options_for(const UsualWork& work, int rounds) {
  const int cpus = available_cpus();
  const auto many = static_cast<std::uint32_t>(cpus);
  return {.dataset = *work.dataset,
          .plan = work.plan,
          .order = {},
          .actors = {1, many, 1, many},  // load, decode, shuffle, transform
          .threads = cpus,
          .rounds = rounds};
}

/// Measures the public loader in `folder` (tests/bench/public) on the same files.
BenchFigures public_loader(const std::string& folder, const BenchData& data, double ours) {
  auto said = numbers_said_by("'" + folder + "/venv/bin/python' '" + folder +
                              "/pyarrow_numpy.py' --threads " + std::to_string(available_cpus()) +
                              " '" + data.folder() + "'/*.tsv");
  if (!said) return pass(said);
  const double theirs = (*said)["rows_per_second"];
  return std::vector<BenchResult>{{"pipeline_over_pyarrow", ours, "rows/s", theirs, ours / theirs}};
}

/// Compares the rows/s at the requested size with those at a tenth of it.
BenchFigures growth(const Invocation& invocation, std::uint64_t rows, double at_full_size) {
  if (!invocation.has("--growth")) return std::vector<BenchResult>();
  auto work = usual_work(std::max<std::uint64_t>(rows / 10, 1));
  if (!work) return pass(work);
  auto small = bench_ingest(options_for(*work, 9));
  if (!small) return small;
  const double at_tenth = pipeline_of(*small).value;
  return std::vector<BenchResult>{
      {"growth", at_full_size, "rows/s", at_tenth, at_full_size / at_tenth}};
}

/// Common setup of benchmarks that start trainers of their own.
struct TrainersBench {
  std::string program;  ///< Path of this program.
  BenchData data;
};

Result<TrainersBench> trainers_bench_of(const BenchSize& size) {
  auto program = own_path();
  if (!program) return pass(program);
  auto data = BenchData::make(size.rows);
  if (!data) return pass(data);
  return TrainersBench{std::move(*program), std::move(*data)};
}

/// Measures the whole pipeline and its parts; with `--public`, also the public loader in that
/// folder (such as tests/bench/public), and with `--growth` the pipeline at a tenth of the rows.
BenchFigures ingest_figures(const Invocation& invocation, const BenchSize& size) {
  auto work = usual_work(size.rows);
  if (!work) return pass(work);
  auto results = bench_ingest(options_for(*work, size.whole_rounds()));
  if (!results) return results;
  const double rate = pipeline_of(*results).value;
  if (invocation.has("--public")) {
    auto more = public_loader(invocation.value("--public"), work->data, rate);
    if (!more) return more;
    results->insert(results->end(), more->begin(), more->end());
  }
  auto more = growth(invocation, size.rows, rate);
  if (!more) return more;
  results->insert(results->end(), more->begin(), more->end());
  return results;
}

Result<BenchResult> train_with(const UsualWork& work, int threads, const std::string& name) {
  TrainerSpec spec;
  spec.threads = threads;
  auto shape = shape_of(spec, work.plan.output());
  if (!shape) return pass(shape);
  auto model = make_model(spec, *shape);
  if (!model) return pass(model);
  auto bench = bench_training_fed(options_for(work, 1), **model);
  if (!bench) return pass(bench);
  return BenchResult{name, bench->fed, "rows/s", bench->cached, bench->ratio()};
}

/// Measures training with the pipeline, compared with training on one cached batch.
BenchFigures train_figures(const Invocation&, const BenchSize& size) {
  auto work = usual_work(size.rows);
  if (!work) return pass(work);
  const int cpus = available_cpus();
  auto spare = train_with(*work, std::max(cpus - 1, 1), "train_with_pipeline");
  if (!spare) return pass(spare);
  auto all = train_with(*work, cpus, "train_with_pipeline_on_all_cpus");
  if (!all) return pass(all);
  return std::vector<BenchResult>{*spare, *all};
}

/// Measures the actor runtime, interleaved with the same workloads of the program that `--public`
/// names (caf_runtime, built from tests/bench if CAF is installed).
BenchFigures runtime_figures(const Invocation& invocation, const BenchSize& size) {
  std::map<std::string, std::vector<double>> ours;
  std::map<std::string, std::vector<double>> theirs;
  std::vector<BenchResult> results;
  for (std::uint64_t round = 0; round < size.rounds && !StopRequest::requested(); ++round) {
    results = run_runtime_bench({}, SystemClock());
    for (const BenchResult& result : results) ours[result.name].push_back(result.value);
    if (!invocation.has("--public")) continue;
    auto said = numbers_said_by("'" + invocation.value("--public") + "'");
    if (!said) return pass(said);
    for (const auto& [name, value] : *said) theirs[name].push_back(value);
  }
  for (BenchResult& result : results) {
    result.value = median(ours[result.name]);
    if (!theirs.contains(result.name)) continue;
    result.limit = median(theirs[result.name]);
    result.ratio = result.value / *result.limit;
  }
  return results;
}

/// Measures the decisions of intune, or of greedy in a build without intune.
BenchFigures tuner_figures(const Invocation&, const BenchSize& size) {
  const bool known = std::ranges::count(tuner::policies(), "intune", &tuner::PolicyInfo::name) > 0;
  return bench_tuner({.rounds = size.whole_rounds(),
                      .policy = known ? "intune" : "greedy",
                      .stopped = StopRequest::requested});
}

/// Measures actors of two processes, compared with ZeroMQ alone, and remote stages, emulated
/// clusters and the head.
/// Benchmarks that fork come first, since RocksDB's threads never end.
BenchFigures wire_figures(const Invocation&, const BenchSize& size) {
  auto program = own_path();
  if (!program) return pass(program);
  const SystemClock clock;
  const auto stopped = StopRequest::requested;
  const int few = std::min(size.whole_rounds(), 3);
  WireBenchOptions wire;
  wire.rounds = size.whole_rounds();
  wire.stopped = stopped;
  const std::vector<std::function<BenchFigures()>> parts = {
      [&] { return run_wire_bench(wire, clock); },
      [&] {
        return run_remote_bench({.rounds = few, .program = *program, .stopped = stopped}, clock);
      },
      [&] { return run_cluster_bench({.rounds = few, .stopped = stopped}, clock); },
      [&] { return run_head_bench({}, clock); }};
  std::vector<BenchResult> results;
  for (const auto& part : parts) {
    if (stopped()) break;
    auto more = part();
    if (!more) return more;
    results.insert(results.end(), more->begin(), more->end());
  }
  return results;
}

/// Measures tables 20 times larger than their memory, compared with tables in memory.
BenchFigures table_figures(const Invocation& invocation, const BenchSize& size) {
  return run_table_bench({.table_rows = static_cast<std::int64_t>(std::bit_ceil(size.rows)),
                          .rounds = size.rounds,
                          .small_network = invocation.has("--small")});
}

/// Measures checkpoints of 1 GiB in the current folder.
BenchFigures checkpoint_figures(const Invocation&, const BenchSize& size) {
  return bench_saving({.rounds = size.whole_rounds(), .stopped = StopRequest::requested},
                      SystemClock());
}

/// Measures the model's threads: the default number, compared with a searched one.
BenchFigures threads_figures(const Invocation&, const BenchSize& size) {
  auto bench = trainers_bench_of(size);
  if (!bench) return pass(bench);
  return run_threads_bench({.program = bench->program,
                            .folder = bench->data.folder(),
                            .cpus = available_cpus(),
                            .rounds = size.whole_rounds(),
                            .epochs = 3,
                            .stopped = StopRequest::requested});
}

/// Measures two trainers, compared with one.
BenchFigures ranks_figures(const Invocation& invocation, const BenchSize& size) {
  auto bench = trainers_bench_of(size);
  if (!bench) return pass(bench);
  RanksBenchOptions options;
  options.program = bench->program;
  options.folder = bench->data.folder();
  options.rounds = size.whole_rounds();
  options.small_network = invocation.has("--small");
  options.stopped = StopRequest::requested;
  return run_ranks_bench(options);
}

struct Part {
  std::string_view name;
  BenchFigures (*measure)(const Invocation&, const BenchSize&);
  BenchSize usual;
};

constexpr std::array kParts = {Part{"checkpoint", &checkpoint_figures, {1, 3}},
                               Part{"ingest", &ingest_figures, {2'000'000, 5}},
                               Part{"ranks", &ranks_figures, {300'000, 5}},
                               Part{"runtime", &runtime_figures, {1, 5}},
                               Part{"tables", &table_figures, {1 << 20, 3}},
                               Part{"threads", &threads_figures, {200'000, 3}},
                               Part{"train", &train_figures, {2'000'000, 1}},
                               Part{"tuner", &tuner_figures, {1, 5}},
                               Part{"wire", &wire_figures, {1, 5}}};

BenchFigures measure(const std::string& name, const Invocation& invocation) {
  const auto* const part = std::ranges::find(kParts, name, &Part::name);
  if (part != kParts.end()) {
    auto size = size_of(invocation, part->usual);
    return size ? part->measure(invocation, *size) : pass(size);
  }
  std::string known;
  for (const Part& other : kParts) {
    if (!known.empty()) known += &other == &kParts.back() ? " and " : ", ";
    known += other.name;
  }
  return fail(Code::kInvalid, "bench " + name + ": not in this version; known are " + known);
}

void print(const std::vector<BenchResult>& results) {
  for (const BenchResult& result : results) {
    const int digits = result.value < 1 ? 9 : 2;
    std::printf("%-26s %14.*f %-8s", result.name.c_str(), digits, result.value,
                result.unit.c_str());
    if (result.limit) std::printf("  limit %14.*f", digits, *result.limit);
    if (result.ratio) std::printf("  ratio %.3f", *result.ratio);
    std::printf("\n");
  }
}

JsonObject json_of(const BenchResult& result) {
  return JsonObject()
      .add("name", result.name)
      .add("value", result.value)
      .add("unit", result.unit)
      .add("limit", result.limit)
      .add("ratio", result.ratio);
}

}  // namespace

Exit run_bench(const Invocation& invocation) {
  auto results = measure(invocation.arguments.front(), invocation);
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!results) {
    return results.error().code == Code::kInvalid ? Exit::refused(results.error())
                                                  : Exit::failed(results.error());
  }
  if (!invocation.has("--json")) {
    print(*results);
    return Exit::done();
  }
  print_json(JsonObject().add("results", *results, json_of));
  return Exit::done();
}

}  // namespace forebay
