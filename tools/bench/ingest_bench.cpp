#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "actors/epoch_order.h"
#include "actors/pipeline.h"
#include "actors/stage/batch_digest.h"
#include "actors/stage/batcher.h"
#include "actors/stage/rows/permute.h"
#include "actors/stage/stage_worker.h"
#include "core/base/clock.h"
#include "core/base/median.h"
#include "engine/process/machine.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/usual_work.h"

namespace forebay {
namespace {

/// One thread's share of the plain loop: every `stride`-th split, through all stages, into batches.
Status plain_share(UsualRun& run, std::size_t first, std::size_t stride) {
  const UsualWork& work = run.work;
  SplitReader reader(*work.dataset, run.buffers);
  Batcher batcher(work.order.batch_size, run.buffers);
  const TransformContext context{run.buffers, work.order.seed, run.names};
  Digest chain;
  for (std::size_t split = first; split < run.order.num_splits(); split += stride) {
    auto raw = reader.read(run.order.blocks(0, split));
    if (!raw) return pass(raw);
    Decoded decoded = work.dataset->format().decode(*raw, {}, run.buffers);
    raw->bytes = {};
    ColumnSet columns = permute_rows(decoded.columns, run.order.row_key(0, split), run.buffers);
    decoded.columns = {};
    if (auto status = work.plan.run(columns, context); !status) return status;
    batcher.add(std::move(columns));
    while (batcher.full()) chain = chain.then(digest_of(batcher.cut()));
  }
  if (batcher.rows() > 0) chain = chain.then(digest_of(batcher.cut()));
  return {};
}

Status plain_loop(UsualRun& run) {
  const auto threads = static_cast<std::size_t>(run.cpus);
  std::vector<Status> results(threads);
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] { results[i] = plain_share(run, i, threads); });
    }
  }
  for (Status& result : results) {
    if (!result) return result;
  }
  return {};
}

Status whole_pipeline(UsualRun& run) {
  auto pipeline = start_pipeline(run);
  if (!pipeline) return pass(pipeline);
  while (true) {
    auto batch = (*pipeline)->next();
    if (!batch) return pass(batch);
    if (*batch == nullptr) return {};
  }
}

/// Returns the raw bytes of splits of about 64 MiB in total, more than any cache holds.
Result<std::vector<RawSplit>> raw_splits(UsualRun& run) {
  std::vector<RawSplit> splits;
  SplitReader reader(*run.work.dataset, run.buffers);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < run.order.num_splits() && bytes < (std::size_t{64} << 20); ++i) {
    auto raw = reader.read(run.order.blocks(0, i));
    if (!raw) return pass(raw);
    bytes += raw->bytes.size();
    splits.push_back(std::move(*raw));
  }
  return splits;
}

/// Measures the nanoseconds a row of each stage alone, on one core.
Status time_stages(UsualRun& run, const std::vector<RawSplit>& splits, Measurements& all) {
  const UsualWork& work = run.work;
  SplitReader reader(*work.dataset, run.buffers);
  const TransformContext context{run.buffers, work.order.seed, run.names};
  Batcher batcher(work.order.batch_size, run.buffers);
  std::size_t i = 0;
  std::size_t rows = 0;
  ColumnSet columns;
  const auto copy = [&]() -> Status {
    const Buffer copied = run.buffers.take(splits[i].bytes.size());
    std::memcpy(copied.data(), splits[i].bytes.data(), splits[i].bytes.size());
    return {};
  };
  const auto decode = [&]() -> Status {
    columns = work.dataset->format().decode(splits[i], {}, run.buffers).columns;
    return {};
  };
  const auto shuffle = [&]() -> Status {
    columns = permute_rows(columns, run.order.row_key(0, i), run.buffers);
    return {};
  };
  const auto transform = [&] { return work.plan.run(columns, context); };
  const auto batch = [&]() -> Status {
    rows += columns.rows;
    batcher.add(std::move(columns));
    while (batcher.full()) digest_of(batcher.cut());
    return {};
  };
  const auto load = [&]() -> Status {
    auto again = reader.read(run.order.blocks(0, i));
    return again ? Status{} : Status(pass(again));
  };
  struct Stage {
    const char* name;
    std::function<Status()> run;
    double spent = 0;
  };
  Stage stages[] = {{"copy", copy},           {"decode", decode}, {"shuffle", shuffle},
                    {"transform", transform}, {"batch", batch},   {"load", load}};
  for (; i < splits.size(); ++i) {
    for (Stage& stage : stages) {
      const Stopwatch watch;
      if (auto status = stage.run(); !status) return status;
      stage.spent += watch.seconds();
    }
  }
  for (const Stage& stage : stages) {
    all.add(stage.name, stage.spent / static_cast<double>(rows) * 1e9);
  }
  return {};
}

/// Measures the stages, and the seconds of the plain loop and of the pipeline.
Result<Measurements> measure_ingest(const UsualWork& work, int rounds) {
  UsualRun run(work);
  auto splits = raw_splits(run);
  if (!splits) return pass(splits);
  Measurements all;
  auto measured = each_round(rounds, [&]() -> Status {
    if (auto timed = time_stages(run, *splits, all); !timed) return timed;
    const Stopwatch watch;
    if (auto done = plain_loop(run); !done) return done;
    const double plain = watch.seconds();
    if (auto done = whole_pipeline(run); !done) return done;
    const double pipeline = watch.seconds() - plain;
    all.add("plain_loop", plain);
    all.add("pipeline", pipeline);
    all.add("slowdown", pipeline / plain);
    return {};
  });
  if (!measured) return pass(measured);
  return all;
}

double rate_of(const UsualWork& work, double seconds) {
  return static_cast<double>(work.dataset->rows()) / seconds;
}

/// Measures the public loader in `folder` (tests/bench/public) on the same files.
Result<BenchResult> public_loader(const std::string& folder, const BenchFolder& data, double ours) {
  auto theirs =
      rate_said_by("'" + folder + "/venv/bin/python' '" + folder + "/pyarrow_numpy.py' --threads " +
                   std::to_string(available_cpus()) + " '" + data.path() + "'/*.tsv");
  if (!theirs) return pass(theirs);
  return BenchResult::over("pipeline_over_pyarrow", ours, "rows/s", *theirs);
}

/// Compares the rows/s at the requested size with those at a tenth of it.
Result<BenchResult> growth(std::uint64_t rows, double at_full_size) {
  constexpr int kRounds = 9;
  auto work = usual_work(std::max<std::uint64_t>(rows / 10, 1));
  if (!work) return pass(work);
  auto small = measure_ingest(*work, kRounds);
  if (!small) return pass(small);
  return BenchResult::over("growth", at_full_size, "rows/s", rate_of(*work, (*small)["pipeline"]));
}

}  // namespace

BenchResults bench_ingest(const BenchOptions& options) {
  auto work = usual_work(options.rows);
  if (!work) return pass(work);
  auto measured = measure_ingest(*work, options.rounds);
  if (!measured) return pass(measured);
  const Measurements& all = *measured;
  const double plain = rate_of(*work, all["plain_loop"]);
  const double rate = rate_of(*work, all["pipeline"]);
  std::vector<BenchResult> results = {
      {"copy", all["copy"], "ns/row"},
      {"load", all["load"], "ns/row"},
      BenchResult::under("decode", all["decode"], "ns/row", all["copy"]),
      {"shuffle", all["shuffle"], "ns/row"},
      {"transform", all["transform"], "ns/row"},
      {"batch", all["batch"], "ns/row"},
      {"plain_loop", plain, "rows/s"},
      {"pipeline", rate, "rows/s", plain},
      BenchResult::under("pipeline_over_plain_loop", all["slowdown"], "x", 1)};
  if (options.other) {
    auto more = public_loader(*options.other, work->data, rate);
    if (!more) return pass(more);
    results.push_back(std::move(*more));
  }
  if (options.growth) {
    auto more = growth(options.rows, rate);
    if (!more) return pass(more);
    results.push_back(std::move(*more));
  }
  return results;
}

}  // namespace forebay
