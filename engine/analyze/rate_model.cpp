#include "engine/analyze/rate_model.h"

#include <algorithm>
#include <cmath>

#include "tuner/model/expected_rate.h"

namespace forebay {
namespace {

constexpr double kLeastSeconds = 1e-9;  // of a stage: a rate is finite
constexpr std::uint32_t kAnyNumber = 1024;

/// The model's stages and, behind them, the parts that a tuner does not see as stages: batch, the
/// trainer, and the CPU time outside.
struct Whole {
  tuner::PipelineDescription description;
  std::vector<tuner::StageCost> costs;
  std::vector<double> noise;
  std::vector<std::uint32_t> actors;

  explicit Whole(const RateModel& model)
      : description(model.description),
        costs(model.costs),
        noise(model.noise),
        actors(model.actors) {
    for (tuner::StageCost& cost : costs) cost.seconds = std::max(cost.seconds, kLeastSeconds);
    const double batch = std::max(model.batch_seconds, kLeastSeconds);
    add("batch", {.seconds = batch, .cpu = std::min(1.0, model.batch_cpu / batch)}, 1);
    add("trainer", {.seconds = std::max(model.trainer_seconds, kLeastSeconds), .cpu = 0}, 1);
    add("outside", {.seconds = std::max(model.outside_cpu, kLeastSeconds)}, kAnyNumber);
  }

  double rate(const RateModel& model, const std::vector<std::uint32_t>& with) const {
    return tuner::expected_rate(costs, noise, with,
                                {.cpus = model.limits.cpus, .loss_scale = model.loss_scale});
  }

  std::vector<std::uint32_t> planned(const RateModel& model) const {
    tuner::PipelineDescription all = description;
    if (all.max_actors > 0) all.max_actors += kAnyNumber;
    const auto plan = tuner::best_allocation(
        all, costs, {.limits = model.limits, .prefetch = model.prefetch, .precision = 1e-4});
    return plan.splits_per_second > 0 ? plan.allocation.actors : actors;
  }

 private:
  void add(const char* name, const tuner::StageCost& cost, std::uint32_t most) {
    description.stages.push_back({.name = name, .max_actors = most});
    costs.push_back(cost);
    noise.push_back(0);
    actors.push_back(most);
  }
};

double splits_alone(const RateModel& model) {
  const Whole whole(model);
  const double today = whole.rate(model, whole.actors);
  return model.tuned ? std::max(today, whole.rate(model, whole.planned(model))) : today;
}

double splits_of_a_worker(const RateModel& model) {
  if (model.worker_splits > 0) return model.worker_splits;
  RateModel worker = model;
  worker.workers = worker.batch_seconds = worker.batch_cpu = 0;
  worker.trainer_seconds = worker.outside_cpu = 0;
  return splits_alone(worker);
}

/// Splits/s with workers: each makes what its stages can, and this machine the rest with the CPUs
/// that taking and batching all of them leaves it.
double splits_with_workers(const RateModel& model) {
  const double most = std::min(1 / std::max(model.trainer_seconds, kLeastSeconds),
                               1 / std::max(model.batch_seconds, kLeastSeconds));
  const double remote = std::min(most, model.workers * splits_of_a_worker(model));
  const double received = model.received_cpu;
  const double always = model.batch_cpu + model.outside_cpu;
  double stages = 0;
  for (const tuner::StageCost& cost : model.costs) stages += cost.seconds * cost.cpu;
  const double left = model.limits.cpus - remote * (always + received);
  const double fed = model.limits.cpus / std::max(always + received, kLeastSeconds);
  if (!model.makes_splits) return std::min(remote, fed);
  const double local = left / std::max(stages + always, kLeastSeconds);
  const double with = std::min(most, remote + std::clamp(local, 0.0, splits_alone(model)));
  return std::max(splits_alone(model), std::min(with, fed));
}

}  // namespace

double rows_per_second(const RateModel& model) {
  if (model.workers <= 0 && !model.makes_splits) return 0;
  const double splits = model.workers > 0 ? splits_with_workers(model) : splits_alone(model);
  return splits * model.rows_per_split;
}

std::vector<std::uint32_t> planned_actors(const RateModel& model) {
  std::vector<std::uint32_t> actors = Whole(model).planned(model);
  actors.resize(model.actors.size());
  return actors;
}

RateModel rate_model_of(const MeasuredCosts& measured) {
  RateModel model;
  model.description = measured.description;
  model.costs = measured.estimate.mean();
  for (const auto& stage : measured.estimate.stages()) model.noise.push_back(stage.noise());
  model.loss_scale = measured.estimate.loss_scale();
  model.actors = measured.now.pipeline.actors_wanted;
  model.prefetch = measured.description.default_prefetch;
  model.tuned = measured.tuned;
  model.limits = measured.limits;
  model.workers = measured.workers.count;
  model.worker_splits = measured.workers.splits_per_second;
  model.makes_splits = measured.makes_splits;
  const PoolStats& batch = measured.now.pipeline.stages.back().pool;
  const PoolStats& before = measured.before.pipeline.stages.back().pool;
  const auto splits = static_cast<double>(
      std::max<std::uint64_t>(1, batch.totals.messages - before.totals.messages));
  double stages_cpu = 0;
  for (const Piece& piece : measured.pieces) {
    if (piece.part == Part::kTrainer) continue;
    if (piece.name == "batch") {
      model.batch_seconds = piece.busy / splits;
      model.batch_cpu = piece.cpu / splits;
    }
    stages_cpu += piece.cpu;
  }
  model.trainer_seconds = trainer_seconds(measured.before, measured.now) / splits;
  const double cpu = measured.now.cpu_seconds - measured.before.cpu_seconds;
  model.outside_cpu = std::max(0.0, cpu - stages_cpu) / splits;
  model.rows_per_split = static_cast<double>(measured.now.rows - measured.before.rows) / splits;
  // The measured CPU time outside has the cost of splits from workers already.
  if (model.workers == 0) model.received_cpu = kRemoteRowSeconds * model.rows_per_split;
  return model;
}

}  // namespace forebay
