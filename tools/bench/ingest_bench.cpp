#include "tools/bench/ingest_bench.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "actors/epoch_order.h"
#include "actors/pipeline.h"
#include "actors/sizing.h"
#include "actors/stage/batcher.h"
#include "actors/stage/permute.h"
#include "actors/stage/stage_worker.h"
#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/base/seconds.h"

namespace forebay {
namespace {

/// Everything that both the plain loop and the pipeline use.
struct Bench {
  explicit Bench(const IngestBenchOptions& given)
      : options(given),
        budget(given.memory_bytes),
        buffers(budget),
        order(given.dataset, given.order) {
    for (const DatasetFile& file : given.dataset.files()) names.push_back(file.name);
  }

  const IngestBenchOptions& options;
  MemoryBudget budget;
  BufferPool buffers;
  EpochOrder order;
  std::vector<std::string> names;
  SystemClock clock;

  double seconds(const std::function<Status()>& work, Status& status) {
    const auto begin = clock.now();
    status = work();
    return in_seconds(clock.now() - begin);
  }
};

/// One thread's share of the plain loop: every `stride`-th split, through all stages, into batches.
Status plain_share(Bench& bench, std::size_t first, std::size_t stride) {
  const IngestBenchOptions& options = bench.options;
  SplitReader reader(options.dataset, bench.buffers);
  Batcher batcher(options.order.batch_size, bench.buffers);
  const TransformContext context{bench.buffers, options.order.seed, bench.names};
  Digest chain;
  for (std::size_t split = first; split < bench.order.num_splits(); split += stride) {
    auto raw = reader.read(bench.order.blocks(0, split));
    if (!raw) return pass(raw);
    Decoded decoded = options.dataset.format().decode(*raw, {}, bench.buffers);
    raw->bytes = {};
    ColumnSet columns = permute_rows(decoded.columns, bench.order.row_key(0, split), bench.buffers);
    decoded.columns = {};
    if (auto status = options.plan.run(columns, context); !status) return status;
    batcher.add(std::move(columns), 0);
    while (batcher.full()) chain = chain.then(Batcher::digest(batcher.cut()));
  }
  if (batcher.rows() > 0) chain = chain.then(Batcher::digest(batcher.cut()));
  return {};
}

Status plain_loop(Bench& bench) {
  const auto threads = static_cast<std::size_t>(bench.options.threads);
  std::vector<Status> results(threads);
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] { results[i] = plain_share(bench, i, threads); });
    }
  }
  for (Status& result : results) {
    if (!result) return result;
  }
  return {};
}

constexpr std::uint64_t kTrainingPrefetch = std::uint64_t{16} << 20;  // about five batches

Result<std::unique_ptr<Pipeline>> start_pipeline(Bench& bench) {
  const IngestBenchOptions& options = bench.options;
  PipelineSpec spec;
  spec.memory_bytes = options.memory_bytes;
  spec.actors = options.actors;
  const Sizing sizing(options.dataset, options.plan, options.order);
  auto memory = plan_memory(spec, sizing, 0);
  if (!memory) return pass(memory);
  return std::make_unique<Pipeline>(
      Pipeline::Options{.dataset = options.dataset,
                        .plan = options.plan,
                        .order = options.order,
                        .actors = options.actors,
                        .memory = *memory,
                        .decode = {},
                        .start = {},
                        .buffers = bench.buffers,
                        .clock = bench.clock,
                        .on_damaged = [](const std::vector<BadRow>&) { return Status{}; }});
}

Status whole_pipeline(Bench& bench) {
  auto pipeline = start_pipeline(bench);
  if (!pipeline) return pass(pipeline);
  while (true) {
    auto batch = (*pipeline)->next();
    if (!batch) return pass(batch);
    if (*batch == nullptr) return {};
  }
}

/// Returns the raw bytes of splits of about 64 MiB in total, more than any cache holds.
Result<std::vector<RawSplit>> raw_splits(Bench& bench) {
  std::vector<RawSplit> splits;
  SplitReader reader(bench.options.dataset, bench.buffers);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < bench.order.num_splits() && bytes < (std::size_t{64} << 20); ++i) {
    auto raw = reader.read(bench.order.blocks(0, i));
    if (!raw) return pass(raw);
    bytes += raw->bytes.size();
    splits.push_back(std::move(*raw));
  }
  return splits;
}

/// Nanoseconds a row of each stage alone, on one core.
struct StageTimes {
  std::vector<double> load, copy, decode, shuffle, transform, batch;
};

Status time_stages(Bench& bench, const std::vector<RawSplit>& splits, StageTimes& times) {
  const IngestBenchOptions& options = bench.options;
  SplitReader reader(options.dataset, bench.buffers);
  const TransformContext context{bench.buffers, options.order.seed, bench.names};
  Batcher batcher(options.order.batch_size, bench.buffers);
  std::size_t i = 0;
  std::size_t rows = 0;
  ColumnSet columns;
  const auto copy = [&]() -> Status {
    const Buffer copied = bench.buffers.take(splits[i].bytes.size());
    std::memcpy(copied.data(), splits[i].bytes.data(), splits[i].bytes.size());
    return {};
  };
  const auto decode = [&]() -> Status {
    columns = options.dataset.format().decode(splits[i], {}, bench.buffers).columns;
    return {};
  };
  const auto shuffle = [&]() -> Status {
    columns = permute_rows(columns, bench.order.row_key(0, i), bench.buffers);
    return {};
  };
  const auto transform = [&] { return options.plan.run(columns, context); };
  const auto batch = [&]() -> Status {
    rows += columns.rows;
    batcher.add(std::move(columns), 0);
    while (batcher.full()) Batcher::digest(batcher.cut());
    return {};
  };
  const auto load = [&]() -> Status {
    auto again = reader.read(bench.order.blocks(0, i));
    return again ? Status{} : Status(pass(again));
  };
  struct Stage {
    std::vector<double>& times;
    std::function<Status()> work;
    double spent = 0;
  };
  Stage stages[] = {{times.copy, copy},           {times.decode, decode}, {times.shuffle, shuffle},
                    {times.transform, transform}, {times.batch, batch},   {times.load, load}};
  Status status;
  for (; i < splits.size(); ++i) {
    for (Stage& stage : stages) {
      stage.spent += bench.seconds(stage.work, status);
      if (!status) return status;
    }
  }
  for (Stage& stage : stages) {
    stage.times.push_back(stage.spent / static_cast<double>(rows) * 1e9);
  }
  return {};
}

}  // namespace

Result<std::vector<BenchResult>> bench_ingest(const IngestBenchOptions& options) {
  Bench bench(options);
  auto splits = raw_splits(bench);
  if (!splits) return pass(splits);
  StageTimes stages;
  std::vector<double> plain;
  std::vector<double> pipeline;
  std::vector<double> slowdown;
  Status status;
  for (int round = 0; round < options.rounds; ++round) {
    if (auto timed = time_stages(bench, *splits, stages); !timed) return pass(timed);
    plain.push_back(bench.seconds([&] { return plain_loop(bench); }, status));
    if (!status) return pass(status);
    pipeline.push_back(bench.seconds([&] { return whole_pipeline(bench); }, status));
    if (!status) return pass(status);
    slowdown.push_back(pipeline.back() / plain.back());
  }
  const auto rows = static_cast<double>(options.dataset.rows());
  const double copy = median(stages.copy);
  const double plain_rate = rows / median(plain);
  return std::vector<BenchResult>{
      {"copy", copy, "ns/row", {}, {}},
      {"load", median(stages.load), "ns/row", {}, {}},
      {"decode", median(stages.decode), "ns/row", copy, copy / median(stages.decode)},
      {"shuffle", median(stages.shuffle), "ns/row", {}, {}},
      {"transform", median(stages.transform), "ns/row", {}, {}},
      {"batch", median(stages.batch), "ns/row", {}, {}},
      {"plain_loop", plain_rate, "rows/s", {}, {}},
      {"pipeline", rows / median(pipeline), "rows/s", plain_rate, {}},
      {"pipeline_over_plain_loop", median(slowdown), "x", 1.0, 1 / median(slowdown)}};
}

Result<TrainBench> bench_training_fed(const IngestBenchOptions& options, Model& model) {
  Bench bench(options);
  auto pipeline = start_pipeline(bench);
  if (!pipeline) return pass(pipeline);
  // A large stock of batches would be consumed in one turn and be made again during the other
  // one's.
  (*pipeline)->set_prefetch(kTrainingPrefetch);
  return bench_training(model, **pipeline, bench.clock, {});
}

}  // namespace forebay
