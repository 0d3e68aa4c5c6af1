#include "tools/bench/usual_work.h"

#include <algorithm>
#include <utility>

#include "actors/sizing.h"

namespace forebay {
namespace {

/// Of the pipeline, for each row of a batch: windows and parts are counted in batches.
constexpr std::uint64_t kMemoryPerRow = std::uint64_t{128} << 10;

}  // namespace

Result<UsualWork> usual_work(std::uint64_t rows) {
  auto data = made_up_rows(rows);
  if (!data) return pass(data);
  auto dataset = open_made_up(*data);
  if (!dataset) return pass(dataset);
  const TransformSpec log1p{"log1p", {"I*"}, {}};
  const TransformSpec hash{"sigrid_hash", {"C*"}, {{"max_value", std::int64_t{1'000'000}}}};
  auto plan = TransformPlan::compile({log1p, hash}, (*dataset)->format().schema());
  if (!plan) return pass(plan);
  return UsualWork{std::move(*data), std::move(*dataset), std::move(*plan)};
}

Result<UsualWork> usual_batches(std::uint64_t rows, std::size_t batch_size, std::uint64_t batches) {
  auto work = usual_work(rows);
  if (!work) return work;
  if (batch_size > 0) work->order.batch_size = batch_size;
  const std::uint64_t batch = work->order.batch_size;
  work->memory_bytes = std::max(work->memory_bytes, batch * kMemoryPerRow);
  work->order.epochs = batches * batch / rows + 1;
  return work;
}

UsualRun::UsualRun(const UsualWork& given)
    : work(given), budget(given.memory_bytes), order(*given.dataset, given.order) {
  for (const DatasetFile& file : given.dataset->files()) names.push_back(file.name);
}

Result<std::unique_ptr<Pipeline>> start_pipeline(UsualRun& run) {
  const UsualWork& work = run.work;
  PipelineSpec spec;
  spec.memory_bytes = work.memory_bytes;
  const StageList& stages = work.plan.stages();
  spec.actors.assign(stages.size(), 1);
  const StageGroups groups = group_all(stages, {}, false);
  auto memory = plan_memory(spec, Sizing(*work.dataset, work.plan, work.order), 0);
  if (!memory) return pass(memory);
  return std::make_unique<Pipeline>(
      Pipeline::Options{.dataset = *work.dataset,
                        .plan = work.plan,
                        .order = work.order,
                        .actors = start_actors(groups, spec.actors, run.cpus, true),
                        .memory = *memory,
                        .decode = {},
                        .start = {},
                        .buffers = run.buffers,
                        .clock = run.clock,
                        .on_damaged = [](const std::vector<BadRow>&) { return Status{}; },
                        .groups = groups,
                        .batch_threads = batch_threads(run.cpus)});
}

}  // namespace forebay
