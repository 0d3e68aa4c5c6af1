#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "tools/bench/bench_data.h"
#include "tools/bench/cluster_bench.h"
#include "tools/bench/head_bench.h"
#include "tools/bench/ingest_bench.h"
#include "tools/bench/other_program.h"
#include "tools/bench/ranks_bench.h"
#include "tools/bench/remote_bench.h"
#include "tools/bench/runtime_bench.h"
#include "tools/bench/save_bench.h"
#include "tools/bench/table_bench_run.h"
#include "tools/bench/threads_bench.h"
#include "tools/bench/tuner_bench.h"
#include "tools/bench/wire_bench.h"
#include "tools/command/commands.h"
#include "tools/json_object.h"
#include "tools/process/machine.h"
#include "tools/process/own_path.h"
#include "tools/process/stop_request.h"
#include "trainer/module.h"
#include "trainer/train_bench.h"
#include "tuner/policy/policies.h"

namespace forebay {
namespace {

using Results = Result<std::vector<BenchResult>>;

Result<std::uint64_t> count_of(const Invocation& invocation, const std::string& option,
                               std::uint64_t otherwise) {
  const std::string text = invocation.value(option);
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number == 0) {
    return fail(Code::kInvalid, option + " " + text + ": wants a number of at least 1");
  }
  return number;
}

/// log1p on the integers, sigrid_hash on the tokens: the work that the figures speak of.
Result<TransformPlan> usual_transforms(const Schema& schema) {
  TransformSpec log1p{"log1p", {"I*"}, {}};
  TransformSpec hash{"sigrid_hash", {"C*"}, {{"max_value", std::int64_t{1'000'000}}}};
  return TransformPlan::compile({log1p, hash}, schema);
}

const BenchResult& pipeline_of(const std::vector<BenchResult>& results) {
  return *std::find_if(results.begin(), results.end(),
                       [](const BenchResult& result) { return result.name == "pipeline"; });
}

IngestBenchOptions options_for(const Dataset& dataset, const TransformPlan& plan,
                               std::uint64_t rounds) {
  const int cpus = available_cpus();
  return {.dataset = dataset,
          .plan = plan,
          .order = {},
          .allocation = {.load = 1, .decode = cpus, .shuffle = 1, .transform = cpus},
          .threads = cpus,
          .rounds = static_cast<int>(rounds)};
}

/// What the public loader in `folder` (tests/bench/public) makes of the same files.
Results public_loader(const std::string& folder, const BenchData& data, double ours) {
  auto said = numbers_said_by("'" + folder + "/venv/bin/python' '" + folder +
                              "/pyarrow_numpy.py' --threads " + std::to_string(available_cpus()) +
                              " '" + data.folder() + "'/*.tsv");
  if (!said) return pass(said);
  const double theirs = (*said)["rows_per_second"];
  return std::vector<BenchResult>{{"pipeline_over_pyarrow", ours, "rows/s", theirs, ours / theirs}};
}

/// Rows/s at the asked-for size against a tenth of it.
Results growth(const Invocation& invocation, std::uint64_t rows, double at_full_size) {
  if (!invocation.has("--growth")) return std::vector<BenchResult>();
  auto data = BenchData::make(std::max<std::uint64_t>(rows / 10, 1));
  if (!data) return pass(data);
  auto dataset = data->open();
  if (!dataset) return pass(dataset);
  auto plan = usual_transforms((*dataset)->format().schema());
  if (!plan) return pass(plan);
  auto small = bench_ingest(options_for(**dataset, *plan, 9));
  if (!small) return small;
  const double at_tenth = pipeline_of(*small).value;
  return std::vector<BenchResult>{
      {"growth", at_full_size, "rows/s", at_tenth, at_full_size / at_tenth}};
}

Results run_ingest_bench(const Invocation& invocation) {
  auto rows = count_of(invocation, "--rows", 2'000'000);
  auto rounds = count_of(invocation, "--rounds", 5);
  if (!rows) return pass(rows);
  if (!rounds) return pass(rounds);
  auto data = BenchData::make(*rows);
  if (!data) return pass(data);
  auto dataset = data->open();
  if (!dataset) return pass(dataset);
  auto plan = usual_transforms((*dataset)->format().schema());
  if (!plan) return pass(plan);
  auto results = bench_ingest(options_for(**dataset, *plan, *rounds));
  if (!results) return results;
  const double rate = pipeline_of(*results).value;
  if (invocation.has("--public")) {
    auto more = public_loader(invocation.value("--public"), *data, rate);
    if (!more) return more;
    results->insert(results->end(), more->begin(), more->end());
  }
  auto more = growth(invocation, *rows, rate);
  if (!more) return more;
  results->insert(results->end(), more->begin(), more->end());
  return results;
}

Results run_train_bench(const Invocation& invocation) {
  auto rows = count_of(invocation, "--rows", 2'000'000);
  if (!rows) return pass(rows);
  auto data = BenchData::make(*rows);
  if (!data) return pass(data);
  auto dataset = data->open();
  if (!dataset) return pass(dataset);
  auto plan = usual_transforms((*dataset)->format().schema());
  if (!plan) return pass(plan);
  TrainerSpec spec;
  spec.threads = std::max(available_cpus() - 1, 1);
  auto shape = shape_of(spec, plan->output());
  if (!shape) return pass(shape);
  auto model = make_model(spec, *shape);
  if (!model) return pass(model);
  auto bench = bench_training_fed(options_for(**dataset, *plan, 1), **model);
  if (!bench) return pass(bench);
  return std::vector<BenchResult>{
      {"train_with_pipeline", bench->fed, "rows/s", bench->cached, bench->ratio()}};
}

/// Tables 20 times larger than their memory, against tables in memory.
Results run_table_bench_of(const Invocation& invocation) {
  auto rows = count_of(invocation, "--rows", std::uint64_t{1} << 20);
  auto rounds = count_of(invocation, "--rounds", 3);
  if (!rows) return pass(rows);
  if (!rounds) return pass(rounds);
  return run_table_bench({.table_rows = static_cast<std::int64_t>(std::bit_ceil(*rows)),
                          .rounds = *rounds,
                          .small_network = invocation.has("--small")});
}

/// The actor runtime, in turns with the same workloads by the program `--public` names
/// (caf_runtime, built from tests/bench where CAF is there).
Results run_runtime_bench_of(const Invocation& invocation) {
  auto rounds = count_of(invocation, "--rounds", 5);
  if (!rounds) return pass(rounds);
  std::map<std::string, std::vector<double>> ours;
  std::map<std::string, std::vector<double>> theirs;
  std::vector<BenchResult> results;
  for (std::uint64_t round = 0; round < *rounds && !StopRequest::requested(); ++round) {
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

/// intune's decisions; greedy's in a build without it.
Results run_tuner_bench(const Invocation& invocation) {
  auto rounds = count_of(invocation, "--rounds", 5);
  if (!rounds) return pass(rounds);
  const bool known = std::ranges::count(tuner::policies(), "intune", &tuner::PolicyInfo::name) > 0;
  return bench_tuner({.rounds = static_cast<int>(*rounds),
                      .policy = known ? "intune" : "greedy",
                      .stopped = [] { return StopRequest::requested(); }});
}

/// Actors of two processes against ZeroMQ alone, remote stages, emulated clusters, the head.
/// Those that fork come first: RocksDB's threads stay.
Results run_wire_bench_of(const Invocation& invocation) {
  auto rounds = count_of(invocation, "--rounds", 5);
  if (!rounds) return pass(rounds);
  auto program = own_path();
  if (!program) return pass(program);
  const SystemClock clock;
  const auto stopped = [] { return StopRequest::requested(); };
  const int few = static_cast<int>(std::min<std::uint64_t>(*rounds, 3));
  WireBenchOptions wire;
  wire.rounds = static_cast<int>(*rounds);
  wire.stopped = stopped;
  const std::vector<std::function<Results()>> parts = {
      [&] { return run_wire_bench(wire, clock); },
      [&] {
        return run_remote_bench({.rounds = few, .program = *program, .stopped = stopped}, clock);
      },
      [&] { return run_cluster_bench({.rounds = few, .stopped = stopped}, clock); },
      [&] {
        return run_head_bench({.folder = std::filesystem::temp_directory_path().string()}, clock);
      }};
  std::vector<BenchResult> results;
  for (const auto& part : parts) {
    if (stopped()) break;
    auto more = part();
    if (!more) return more;
    results.insert(results.end(), more->begin(), more->end());
  }
  return results;
}

/// What benches that start trainers of their own begin with.
struct TrainersBench {
  std::string program;  ///< This one.
  BenchData data;
  int rounds = 0;
};

Result<TrainersBench> trainers_bench_of(const Invocation& invocation, std::uint64_t usual_rows,
                                        std::uint64_t usual_rounds) {
  auto rows = count_of(invocation, "--rows", usual_rows);
  auto rounds = count_of(invocation, "--rounds", usual_rounds);
  if (!rounds) return pass(rounds);
  if (!rows) return pass(rows);
  auto program = own_path();
  if (!program) return pass(program);
  auto data = BenchData::make(*rows);
  if (!data) return pass(data);
  return TrainersBench{std::move(*program), std::move(*data), static_cast<int>(*rounds)};
}

/// The model's threads: searched for, or left to chance.
Results run_threads_bench_of(const Invocation& invocation) {
  auto bench = trainers_bench_of(invocation, 200'000, 3);
  if (!bench) return pass(bench);
  return run_threads_bench({.program = bench->program,
                            .folder = bench->data.folder(),
                            .cpus = available_cpus(),
                            .rounds = bench->rounds,
                            .epochs = 3,
                            .stopped = [] { return StopRequest::requested(); }});
}

/// Two trainers against one.
Results run_ranks_bench_of(const Invocation& invocation) {
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

/// Checkpoints of 1 GiB, where the command runs.
Results run_save_bench(const Invocation& invocation) {
  auto rounds = count_of(invocation, "--rounds", 3);
  if (!rounds) return pass(rounds);
  return bench_saving(
      {.rounds = static_cast<int>(*rounds), .stopped = [] { return StopRequest::requested(); }},
      SystemClock());
}

Results run_bench_of(const std::string& part, const Invocation& invocation) {
  if (part == "ingest") return run_ingest_bench(invocation);
  if (part == "train") return run_train_bench(invocation);
  if (part == "checkpoint") return run_save_bench(invocation);
  if (part == "threads") return run_threads_bench_of(invocation);
  if (part == "tables") return run_table_bench_of(invocation);
  if (part == "ranks") return run_ranks_bench_of(invocation);
  if (part == "runtime") return run_runtime_bench_of(invocation);
  if (part == "tuner") return run_tuner_bench(invocation);
  if (part == "wire") return run_wire_bench_of(invocation);
  return fail(Code::kInvalid,
              "bench " + part +
                  ": not in this version; known are checkpoint, ingest, ranks, runtime, tables, "
                  "threads, train, tuner and wire");
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
  auto results = run_bench_of(invocation.arguments.front(), invocation);
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!results) {
    return results.error().code == Code::kInvalid ? Exit::refused(results.error())
                                                  : Exit::failed(results.error());
  }
  if (!invocation.has("--json")) {
    print(*results);
    return Exit::done();
  }
  std::vector<JsonObject> list;
  for (const BenchResult& result : *results) list.push_back(json_of(result));
  print_json(JsonObject().add("results", list));
  return Exit::done();
}

}  // namespace forebay
