#include "engine/metrics/verdict.h"

#include <algorithm>
#include <optional>

#include "core/base/clock.h"
#include "core/base/enum_names.h"
#include "core/base/text/counted.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr double kHardlyStarved = 0.05;
constexpr double kAllCpus = 0.9;
constexpr double kBusy = 0.6;
constexpr double kHardlyOnCpu = 0.5;
constexpr double kFull = 0.9;
constexpr double kCouldMakeMore = 1.25;
constexpr double kSomeCpus = 0.1;

constexpr EnumName<Limit> kLimitNames[] = {
    {"unknown", Limit::kUnknown}, {"trainer", Limit::kTrainer}, {"cpus", Limit::kCpus},
    {"stage", Limit::kStage},     {"input", Limit::kInput},     {"batch", Limit::kBatch},
    {"memory", Limit::kMemory},   {"link", Limit::kLink}};

std::string actors_of(const StageView& stage) {
  return "its " + format_counted(stage.actors, "actor was", "actors were");
}

// Returns actor-seconds of work per second: the load of a stage on the machine.
double load_of(const StageView& stage) {
  return stage.busy_share * static_cast<double>(stage.actors);
}

std::string describe_queue(const StageView& stage) {
  if (stage.queued == 0) return "";
  return " and " + format_counted(stage.queued, "split") + " waited for it";
}

bool starved(const Activity& activity) {
  return !activity.trained || activity.starved_ratio >= kHardlyStarved;
}

/// The CPUs that other programs took while an actor was ready to run.
double cpus_taken(const Activity& activity) {
  double taken = 0;
  for (const StageView& stage : activity.stages) {
    taken += stage.ready_share * static_cast<double>(stage.actors);
  }
  const double free = static_cast<double>(activity.cpus) - activity.cpus_busy;
  return std::clamp(taken, 0.0, std::max(0.0, free));
}

bool cpus_full(const Activity& activity) {
  return activity.cpus > 0 &&
         activity.cpus_busy + cpus_taken(activity) >= kAllCpus * static_cast<double>(activity.cpus);
}

/// The factor by which rows per second can grow until the trainer, which works on them for the
/// share that it does not wait, is the limit.
double trainer_gain(const Activity& activity) {
  constexpr double kMost = 100;
  if (!activity.trained) return kMost;
  return 1 / std::max(1 - std::clamp(activity.starved_ratio, 0.0, 1.0), 1 / kMost);
}

/// The same for the CPUs, of which a row takes what it takes today.
double cpu_gain(const Activity& activity) {
  if (activity.cpus == 0 || activity.cpus_busy <= 0) return 1;
  return std::max(1.0, static_cast<double>(activity.cpus) / activity.cpus_busy);
}

/// The same for all stages but `without`, whose actors are busy for a share of the time.
double stage_gain(const Activity& activity, const StageView* without) {
  double busiest = 0.01;
  for (const StageView& stage : activity.stages) {
    if (&stage != without) busiest = std::max(busiest, stage.busy_share);
  }
  return std::max(1.0, 1 / busiest);
}

const StageView& busiest_of(const Activity& activity) {
  return *std::ranges::max_element(activity.stages, {}, &StageView::busy_share);
}

Verdict blame_trainer(const Activity& activity) {
  return {Limit::kTrainer,
          "the trainer is the bottleneck: it waited for data " +
              format_percent(activity.starved_ratio) +
              " of the time; a faster model or more CPUs for it would help, more actors would not",
          stage_gain(activity, nullptr), busiest_of(activity).name};
}

Verdict blame_cpus(const Activity& activity, const StageView& heaviest) {
  double all = 0;
  for (const StageView& stage : activity.stages) all += load_of(stage);
  // Without a trainer nothing tells where more CPUs end to help.
  const double gain = activity.trained ? trainer_gain(activity) : 0;
  const double taken = cpus_taken(activity);
  const std::string others =
      taken < kSomeCpus ? "" : " and other programs took " + format_number(taken, 1);
  return {Limit::kCpus,
          "not enough CPUs: " + format_number(activity.cpus_busy, 1) + " of " +
              std::to_string(activity.cpus) + " were busy" + others + ", and " + heaviest.name +
              " took " + format_percent(load_of(heaviest) / all) +
              " of the stages' work; give the run more CPUs or make " + heaviest.name + " cheaper",
          gain, heaviest.name};
}

Verdict blame_stage(const Activity& activity, const StageView& busiest) {
  const double gain =
      std::min({trainer_gain(activity), cpu_gain(activity), stage_gain(activity, &busiest)});
  if (busiest.name == "batch") {
    return {Limit::kBatch,
            "batch is the bottleneck: the one actor that cuts batches in order was busy " +
                format_percent(busiest.busy_share) +
                " of the time; fewer columns or a faster core would help",
            gain, busiest.name};
  }
  const std::string busy = busiest.name + " is the bottleneck: " + actors_of(busiest) + " busy " +
                           format_percent(busiest.busy_share) + " of the time" +
                           describe_queue(busiest);
  if (busiest.cpu_share >= kHardlyOnCpu) {
    const std::string advice = "; give it more actors (pipeline.allocation." + busiest.name + ")";
    return {Limit::kStage, busy + advice, gain, busiest.name};
  }
  const bool reads = busiest.name == "load";
  const std::string what = reads ? "the disk or the store" : "something else than a CPU";
  return {
      reads ? Limit::kInput : Limit::kStage,
      busy + "; it hardly used a CPU, so it waited for " + what + ": more actors of it may help",
      gain, busiest.name};
}

/// Workers that could make more are held up by the splits that they may hold, which is memory, or,
/// if they hold all that they want, by the link that takes their splits.
std::optional<Verdict> blame_cluster(const Activity& activity) {
  if (!starved(activity) || activity.made_per_second <= 0 || activity.lease_capacity == 0)
    return {};
  const double more = activity.could_make_per_second / activity.made_per_second;
  if (more < kCouldMakeMore) return {};
  const bool all_leased =
      static_cast<double>(activity.leases) >= kFull * static_cast<double>(activity.lease_capacity);
  const std::string rates = "workers could make " +
                            format_number(activity.could_make_per_second, 1) +
                            " splits/s and hand over " + format_number(activity.made_per_second, 1);
  const double gain = std::min(trainer_gain(activity), more);
  if (all_leased) {
    return Verdict{Limit::kLink,
                   "the link is the bottleneck: " + rates +
                       ", with all the splits that they want to hold; a faster network or "
                       "cluster.compress would help, more workers would not",
                   gain};
  }
  return Verdict{Limit::kMemory,
                 "memory is the bottleneck: " + rates + ", with " + format_count(activity.leases) +
                     " of the " + format_count(activity.lease_capacity) +
                     " splits that they want to hold; the trainer's pipeline.memory bounds them",
                 gain};
}

Verdict blame_waiting(const Activity& activity, const StageView& busiest) {
  const bool window_full =
      activity.window_capacity > 0 && static_cast<double>(activity.window_bytes) >=
                                          kFull * static_cast<double>(activity.window_capacity);
  const bool memory_bounds = activity.window_capacity < activity.window_wanted;
  if (window_full && memory_bounds && starved(activity)) {
    return {Limit::kMemory,
            "memory is the bottleneck: splits on their way fill the " +
                format_size(activity.window_capacity) + " that they may take, while " +
                busiest.name + ", the busiest stage, works " + format_percent(busiest.busy_share) +
                " of the time; a larger pipeline.memory would help",
            std::min({trainer_gain(activity), cpu_gain(activity), stage_gain(activity, nullptr)}),
            busiest.name};
  }
  return {Limit::kUnknown,
          "no stage was the bottleneck: " + busiest.name + ", the busiest, worked " +
              format_percent(busiest.busy_share) + " of the time" +
              (activity.trained ? "; a run this short, or a small memory limit, leaves actors "
                                  "waiting for each other"
                                : ""),
          0, busiest.name};
}

void add_workers(const scheduler::ClusterStatus& cluster, Activity& to) {
  for (const scheduler::NodeStatus& node : cluster.nodes) {
    if (node.name == "local" || node.state != scheduler::NodeStatus::State::kPrepared) continue;
    to.made_per_second += node.rate;
    to.could_make_per_second += node.could_make;
    to.leases += node.leases;
    to.lease_capacity += node.capacity;
  }
}

}  // namespace

std::string_view name_of(Limit limit) { return name_in<Limit>(kLimitNames, limit); }

Activity activity_between(const RunFigures& before, const RunFigures& now) {
  Activity activity;
  activity.seconds = in_seconds(now.elapsed - before.elapsed);
  activity.rows = now.rows - before.rows;
  activity.trained = now.command != "ingest";
  if (activity.seconds > 0) {
    activity.starved_ratio =
        std::clamp(in_seconds(now.waited - before.waited) / activity.seconds, 0.0, 1.0);
    activity.cpus_busy = (now.cpu_seconds - before.cpu_seconds) / activity.seconds;
  }
  activity.cpus = now.cpus;
  activity.stages = stage_views(before.pipeline, now.pipeline);
  activity.window_bytes = now.pipeline.window_bytes;
  activity.window_capacity = now.pipeline.window_capacity;
  activity.window_wanted = now.pipeline.window_wanted;
  if (now.cluster) add_workers(*now.cluster, activity);
  return activity;
}

Verdict judge(const Activity& activity) {
  if (activity.stages.empty() || activity.rows == 0) {
    return {Limit::kUnknown, "no rows came through; there is no bottleneck to name", 0, ""};
  }
  if (activity.trained && activity.starved_ratio < kHardlyStarved) return blame_trainer(activity);
  const StageView& heaviest = *std::ranges::max_element(activity.stages, {}, load_of);
  if (cpus_full(activity) && load_of(heaviest) > 0) return blame_cpus(activity, heaviest);
  if (auto verdict = blame_cluster(activity)) return *verdict;
  const StageView& busiest = busiest_of(activity);
  return busiest.busy_share < kBusy ? blame_waiting(activity, busiest)
                                    : blame_stage(activity, busiest);
}

}  // namespace forebay
