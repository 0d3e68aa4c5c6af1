#include <algorithm>
#include <string>
#include <vector>

#include "engine/process/machine.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/usual_work.h"
#include "trainer/module.h"
#include "trainer/train_bench.h"

namespace forebay {
namespace {

/// A large stock of batches would be consumed in one turn and be made again during the other one's.
constexpr std::uint64_t kBatchesInStock = 5;

TrainBenchPlan plan_for(const BenchOptions& options) {
  if (options.device == "cpu") return {};
  // A step there takes a hundredth of the time.
  return {.turns = 5, .settle = 40, .steps = 100, .ahead = 3};
}

Result<UsualWork> fed_work(const BenchOptions& options, const TrainBenchPlan& plan) {
  const std::uint64_t wanted = plan.turns * (plan.settle + plan.steps) + plan.ahead + 1;
  return usual_batches(options.rows, options.batch_size, wanted);
}

/// On the CPU the default MLPs, which the CPU trains as fast as a pipeline of some cores feeds it.
TrainerSpec model_for(const BenchOptions& options) {
  const bool small = options.small_network || options.device == "cpu";
  TrainerSpec spec = small ? TrainerSpec{} : bench_model(TrainerSpec{}.max_table_rows, false);
  spec.model = options.model;
  spec.device = options.device;
  if (spec.model != TrainerSpec::ModelKind::kDlrm && spec.model != TrainerSpec::ModelKind::kDcnV2) {
    spec.bottom_mlp.clear();
  }
  return spec;
}

Result<BenchResult> train_with(const UsualWork& work, const TrainerSpec& spec,
                               const TrainBenchPlan& plan, const std::string& name) {
  auto shape = shape_of(spec, work.plan.output());
  if (!shape) return pass(shape);
  auto model = make_model(spec, *shape);
  if (!model) return pass(model);
  UsualRun run(work);
  auto pipeline = start_pipeline(run);
  if (!pipeline) return pass(pipeline);
  constexpr std::uint64_t kBytesPerRow = 400;
  (*pipeline)->set_prefetch(kBatchesInStock * work.order.batch_size * kBytesPerRow);
  auto rates = bench_training(**model, **pipeline, run.clock, plan);
  if (!rates) return pass(rates);
  return BenchResult{name, rates->fed, "rows/s", rates->cached, rates->ratio()};
}

}  // namespace

BenchResults bench_train(const BenchOptions& options) {
  // Before rows are made for it.
  if (auto trainer = open_trainer(); !trainer) {
    return fail(Code::kInvalid, trainer.error().message);
  }
  const TrainBenchPlan plan = plan_for(options);
  auto work = fed_work(options, plan);
  if (!work) return pass(work);
  const int cpus = available_cpus();
  TrainerSpec spec = model_for(options);
  spec.threads = std::max(cpus - 1, 1);
  auto spare = train_with(*work, spec, plan, "train_with_pipeline");
  if (!spare) return pass(spare);
  if (spec.device != "cpu") return std::vector<BenchResult>{*spare};
  spec.threads = cpus;
  auto all = train_with(*work, spec, plan, "train_with_pipeline_on_all_cpus");
  if (!all) return pass(all);
  return std::vector<BenchResult>{*spare, *all};
}

}  // namespace forebay
