#include "engine/analyze/what_if.h"

#include <algorithm>
#include <utility>

#include "core/base/text/counted.h"
#include "engine/analyze/workers.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

using Kind = WhatIf::Kind;

constexpr double kLittle = 0.02;     // a share of the time that no change is made for
constexpr double kLeastGain = 1.03;  // of another allocation
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;  // the least that pipeline.memory may be

/// Workers read the job from its text.
void set_for_workers(JobSpec& job, const std::string& key, const std::string& value) {
  job.source.sets.push_back(key + "=" + value);
}

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

  /// Whether the job can be run with the workers of `changed`.
  bool can_run(const RateModel& changed) const {
    const ClusterSpec& cluster = analysed_.job.cluster;
    if (changed.workers <= 0) return changed.makes_splits;
    const bool allowed =
        cluster.max_workers == 0 || changed.workers <= static_cast<double>(cluster.max_workers);
    return cluster.used() && !cluster.scale.empty() && allowed;
  }

  /// A change with a trial: the same job under it, with the actors that the model plans there, and
  /// all of its workers from the start.
  void try_out(WhatIf& added, const RateModel& changed, JobSpec job) const {
    if (!can_run(changed)) return;
    if (changed.workers > 0) {
      job.cluster.min_workers = job.cluster.max_workers =
          static_cast<std::uint64_t>(changed.workers);
    } else {
      job.cluster = {};
    }
    run_as(added, changed, std::move(job));
  }

  /// The same for a job without workers, which `command` starts here.
  void try_out_with(const std::string& command, WhatIf& added, const RateModel& changed) const {
    JobSpec job = analysed_.job;
    job.cluster.listen = "tcp://127.0.0.1:0";
    job.cluster.address_file = local_workers_address(job);
    job.cluster.scale = command;
    job.cluster.min_workers = job.cluster.max_workers = static_cast<std::uint64_t>(changed.workers);
    run_as(added, changed, std::move(job));
  }

  std::vector<WhatIf> take() { return std::move(list_); }

 private:
  static void run_as(WhatIf& added, const RateModel& changed, JobSpec job) {
    job.tuner.mode = "off";
    set_for_workers(job, "tuner.mode", "off");
    const auto actors = changed.tuned ? planned_actors(changed) : changed.actors;
    job.pipeline.actors.assign(actors.begin(), actors.end());
    for (std::size_t i = 0; i < actors.size(); ++i) {
      set_for_workers(job, "pipeline.allocation." + changed.description.stages[i].name,
                      std::to_string(actors[i]));
    }
    added.trial = std::move(job);
  }

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
  const std::uint64_t mib =
      std::max<std::uint64_t>(1, analysed.job.pipeline.memory_bytes / 2 / kMiB);
  const std::uint64_t half = mib * kMiB;
  RateModel changed = analysed.model;
  changed.limits.memory_bytes = half;
  WhatIf& added =
      changes.add(Kind::kHalfMemory, "pipeline.memory = " + std::to_string(mib) + "MiB", changed);
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
  set_for_workers(job, "order.batch_size", std::to_string(twice));
  if (learns(job.trainer.model) && !changes.can_run(changed)) return;
  WhatIf& added =
      changes.add(Kind::kBatchSize, "order.batch_size = " + std::to_string(twice), changed);
  changes.try_out(added, changed, std::move(job));
}

/// The numbers of workers that are looked at where there are `now`.
std::vector<std::uint32_t> worker_counts(std::uint32_t now) {
  if (now == 0) return {1, 2, 4};
  if (now == 1) return {0, 2};
  return {now - 1, now + 1, 2 * now};
}

std::string name_of_workers(std::uint32_t workers, std::uint32_t now) {
  const std::string count = workers == 0 ? "no workers" : format_counted(workers, "worker");
  const std::string unlike = now == 0 ? " like this machine" : " instead of " + std::to_string(now);
  return count + unlike;
}

void add_workers(Changes& changes, const Analysed& analysed) {
  const auto now = static_cast<std::uint32_t>(analysed.model.workers);
  for (const std::uint32_t workers : worker_counts(now)) {
    RateModel changed = analysed.model;
    changed.workers = workers;
    WhatIf& added = changes.add(workers < now ? Kind::kFewerWorkers : Kind::kWorkers,
                                name_of_workers(workers, now), changed);
    if (analysed.job.cluster.used()) {
      changes.try_out(added, changed, analysed.job);
    } else if (analysed.local_workers) {
      const std::string command = analysed.local_workers(workers);
      if (!command.empty()) changes.try_out_with(command, added, changed);
    }
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
