#include <algorithm>
#include <memory>
#include <utility>

#include "engine/process/machine.h"
#include "tools/bench/bench_data.h"
#include "tools/bench/ingest_bench.h"
#include "tools/bench/other_program.h"
#include "tools/command/bench_parts.h"
#include "trainer/module.h"
#include "trainer/train_bench.h"

namespace forebay {
namespace {

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

IngestBenchOptions options_for(const UsualWork& work, std::uint64_t rounds) {
  const int cpus = available_cpus();
  const auto many = static_cast<std::uint32_t>(cpus);
  return {.dataset = *work.dataset,
          .plan = work.plan,
          .order = {},
          .actors = {1, many, 1, many},  // load, decode, shuffle, transform
          .threads = cpus,
          .rounds = static_cast<int>(rounds)};
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

}  // namespace

BenchFigures ingest_figures(const Invocation& invocation) {
  auto rows = bench_count(invocation, "--rows", 2'000'000);
  auto rounds = bench_count(invocation, "--rounds", 5);
  if (!rows) return pass(rows);
  if (!rounds) return pass(rounds);
  auto work = usual_work(*rows);
  if (!work) return pass(work);
  auto results = bench_ingest(options_for(*work, *rounds));
  if (!results) return results;
  const double rate = pipeline_of(*results).value;
  if (invocation.has("--public")) {
    auto more = public_loader(invocation.value("--public"), work->data, rate);
    if (!more) return more;
    results->insert(results->end(), more->begin(), more->end());
  }
  auto more = growth(invocation, *rows, rate);
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

BenchFigures train_figures(const Invocation& invocation) {
  auto rows = bench_count(invocation, "--rows", 2'000'000);
  if (!rows) return pass(rows);
  auto work = usual_work(*rows);
  if (!work) return pass(work);
  const int cpus = available_cpus();
  auto spare = train_with(*work, std::max(cpus - 1, 1), "train_with_pipeline");
  if (!spare) return pass(spare);
  auto all = train_with(*work, cpus, "train_with_pipeline_on_all_cpus");
  if (!all) return pass(all);
  return std::vector<BenchResult>{*spare, *all};
}

}  // namespace forebay
