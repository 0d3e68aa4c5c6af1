#include "engine/analyze/what_if.h"

#include <algorithm>
#include <utility>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

using Kind = WhatIf::Kind;

constexpr double kLittle = 0.02;     // a share of the time that no change is made for
constexpr double kLeastGain = 1.03;  // of another allocation
constexpr std::uint64_t kLeastMemory = std::uint64_t{1} << 20;

/// Makes the list: the model's rate of each change, relative to the model's rate of today.
class Changes {
 public:
  explicit Changes(const Analysed& analysed)
      : analysed_(analysed), today_(rows_per_second(analysed.model)) {}

  double rate(const RateModel& changed) const {
    if (today_ <= 0) return analysed_.rows_per_second;
    return analysed_.rows_per_second * rows_per_second(changed) / today_;
  }

  WhatIf& add(Kind kind, std::string change, const RateModel& changed) {
    return list_.emplace_back(
        WhatIf{.kind = kind, .change = std::move(change), .rows_per_second = rate(changed)});
  }

  /// A change with a trial: the same job under it, with the actors that the model plans there.
  void try_out(WhatIf& added, const RateModel& changed, JobSpec job) const {
    if (!analysed_.trials) return;
    job.tuner.mode = "off";
    const auto actors = changed.tuned ? planned_actors(changed) : changed.actors;
    job.pipeline.actors.assign(actors.begin(), actors.end());
    added.trial = std::move(job);
  }

  std::vector<WhatIf> take() { return std::move(list_); }

 private:
  const Analysed& analysed_;
  const double today_;
  std::vector<WhatIf> list_;
};

void add_cpus(Changes& changes, const Analysed& analysed, Kind kind, int cpus) {
  RateModel changed = analysed.model;
  changed.limits.cpus = cpus;
  WhatIf& added = changes.add(kind, "pipeline.cpus = " + std::to_string(cpus), changed);
  if (cpus > analysed.machine_cpus || cpus == analysed.job.pipeline.cpus) return;
  JobSpec job = analysed.job;
  job.pipeline.cpus = cpus;
  changes.try_out(added, changed, std::move(job));
}

void add_memory(Changes& changes, const Analysed& analysed) {
  const std::uint64_t half = std::max(kLeastMemory, analysed.job.pipeline.memory_bytes / 2);
  RateModel changed = analysed.model;
  changed.limits.memory_bytes = half;
  WhatIf& added =
      changes.add(Kind::kHalfMemory, "pipeline.memory = " + std::to_string(half), changed);
  JobSpec job = analysed.job;
  job.pipeline.memory_bytes = half;
  changes.try_out(added, changed, std::move(job));
}

/// A step of an emulated trainer takes the same time for any batch; without one there is none; what
/// it takes a model, only a trial says.
void add_batch_size(Changes& changes, const Analysed& analysed) {
  const std::uint64_t twice = 2 * analysed.job.order.batch_size;
  RateModel changed = analysed.model;
  if (analysed.job.trainer.model == TrainerSpec::ModelKind::kEmulated) changed.trainer_seconds /= 2;
  JobSpec job = analysed.job;
  job.order.batch_size = twice;
  if (learns(job.trainer.model) && !analysed.trials) return;
  WhatIf& added =
      changes.add(Kind::kBatchSize, "order.batch_size = " + std::to_string(twice), changed);
  changes.try_out(added, changed, std::move(job));
}

void add_workers(Changes& changes, const Analysed& analysed) {
  for (const int workers : {1, 2, 4}) {
    RateModel changed = analysed.model;
    changed.workers = workers;
    const std::string count = std::to_string(workers);
    changes.add(Kind::kWorkers,
                count + (workers == 1 ? " worker like this machine" : " workers like this machine"),
                changed);
  }
}

/// Twice as fast: half of load's waiting, and twice the rate that limits it.
void add_disk(Changes& changes, const Analysed& analysed) {
  RateModel changed = analysed.model;
  tuner::StageCost& load = changed.costs.front();
  const double cpu = load.seconds * load.cpu;
  const double waiting = (load.seconds - cpu) / 2;
  load.seconds = cpu + waiting;
  load.cpu = load.seconds > 0 ? cpu / load.seconds : 1;
  load.max_rate *= 2;
  changes.add(Kind::kDisk, "a disk or store twice as fast", changed);
}

void add_trainer(Changes& changes, const Analysed& analysed) {
  if (analysed.job.trainer.model == TrainerSpec::ModelKind::kNone) return;
  RateModel changed = analysed.model;
  changed.trainer_seconds /= 2;
  if (learns(analysed.job.trainer.model)) changed.outside_cpu /= 2;
  changes.add(Kind::kTrainer, "a trainer twice as fast", changed);
}

/// Each operator at half its cost, if that is much of its stage.
void add_operators(Changes& changes, const Analysed& analysed) {
  const double all = total_busy(analysed.pieces);
  for (const Piece& piece : analysed.pieces) {
    if (piece.part != Part::kTransform || piece.name == piece.stage) continue;
    if (piece.busy <= kLittle * all) continue;
    double stage_busy = 0;
    double stage_cpu = 0;
    for (const Piece& other : analysed.pieces) {
      if (other.stage != piece.stage) continue;
      stage_busy += other.busy;
      stage_cpu += other.cpu;
    }
    RateModel changed = analysed.model;
    for (std::size_t i = 0; i < changed.costs.size(); ++i) {
      if (changed.description.stages[i].name != piece.stage) continue;
      tuner::StageCost& cost = changed.costs[i];
      const double left = stage_busy - piece.busy / 2;
      const double left_cpu = stage_cpu - piece.cpu / 2;
      cost.seconds *= left / stage_busy;
      cost.cpu = std::clamp(left_cpu / left, 0.0, 1.0);
      if (cost.max_rate > 0) cost.max_rate *= stage_busy / left;
    }
    changes.add(Kind::kOperator, piece.name + " at half its cost", changed);
  }
}

/// The actors that the plan gives, if the job's own are fixed and slower.
void add_allocation(Changes& changes, const Analysed& analysed) {
  if (analysed.model.tuned) return;
  RateModel changed = analysed.model;
  changed.actors = planned_actors(analysed.model);
  if (changes.rate(changed) < kLeastGain * analysed.rows_per_second) return;
  std::string change;
  for (std::size_t i = 0; i < changed.actors.size(); ++i) {
    if (changed.actors[i] == analysed.model.actors[i]) continue;
    change += (change.empty() ? "" : ", ") + std::string("pipeline.allocation.") +
              changed.description.stages[i].name + " = " + std::to_string(changed.actors[i]);
  }
  WhatIf& added = changes.add(Kind::kAllocation, std::move(change), changed);
  changes.try_out(added, changed, analysed.job);
}

}  // namespace

std::vector<WhatIf> what_ifs(const Analysed& analysed) {
  Changes changes(analysed);
  const int cpus = analysed.job.pipeline.cpus;
  add_cpus(changes, analysed, Kind::kHalfCpus, std::max(1, cpus / 2));
  add_cpus(changes, analysed, Kind::kTwiceCpus, 2 * cpus);
  add_memory(changes, analysed);
  add_batch_size(changes, analysed);
  add_workers(changes, analysed);
  add_disk(changes, analysed);
  add_operators(changes, analysed);
  add_trainer(changes, analysed);
  add_allocation(changes, analysed);
  return changes.take();
}

}  // namespace forebay
