#include "engine/analyze/analysis.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/analyze/measured_run.h"
#include "engine/analyze/rate_model.h"
#include "engine/analyze/workers.h"
#include "engine/process/machine.h"
#include "engine/process/run_dir.h"
#include "tuner/model/pipeline_estimate.h"

namespace forebay {
namespace {

constexpr double kBaseShare = 0.5;  // of the length; the rest is that of the trials
constexpr std::uint64_t kFewestBatches = 4;

tuner::PipelineEstimate estimate_of(const MeasuredRun& run) {
  tuner::PipelineEstimate estimate(run.description);
  for (const tuner::Observation& seen : run.observations) estimate.observe(seen);
  return estimate;
}

/// Whether a trial says more than the model: its workers have come, and it has made some batches.
bool is_enough(const MeasuredRun& run, const ClusterSpec& cluster) {
  const std::uint64_t wanted = cluster.used() ? cluster.min_workers : 0;
  return run.batches >= kFewestBatches && run.workers.count == wanted;
}

/// An analysis under way.
class Analyzer {
 public:
  Analyzer(const JobSpec& job, const AnalysisOptions& options) : job_(job), options_(options) {}

  Result<Analysis> run() {
    if (auto held = hold_folder(); !held) return pass(held);
    auto base = measure_job(job_, "the job as it is", kBaseShare);
    if (!base) return pass(base);
    Analysis analysis = read(*base);
    if (auto tried = try_out(analysis); !tried) return pass(tried);
    analysis.advice = advice_of(analysis.what_ifs, analysis.rows_per_second);
    return analysis;
  }

 private:
  // Workers find the address of an analysis in the job's folder, where a run would have its own.
  Status hold_folder() {
    if (!job_.cluster.used()) return {};
    auto held = RunDir::hold(job_.run.dir);
    if (!held) return pass(held);
    folder_.emplace(std::move(*held));
    return {};
  }

  Result<MeasuredRun> measure_job(const JobSpec& job, const std::string& what, double share) {
    return measure(job, {.what = what,
                         .length = std::chrono::nanoseconds(static_cast<std::int64_t>(
                             share * static_cast<double>(options_.length.count()))),
                         .events = options_.events,
                         .progress = options_.progress,
                         .index_of = job_.run.dir});
  }

  bool makes_splits() const { return !job_.cluster.used() || job_.cluster.local; }

  Analysis read(const MeasuredRun& run) const {
    const double cpus = run.limits.cpus;
    Analysis analysis;
    analysis.seconds = run.seconds();
    analysis.rows = run.last.rows - run.first.rows;
    analysis.rows_per_second = run.rows_per_second();
    analysis.pieces = pieces_of(run.first, run.last, job_.stages,
                                remote_work(run.history, run.first.at, run.last.at), cpus);
    const auto estimate = estimate_of(run);
    const RateModel model = rate_model_of({.description = run.description,
                                           .estimate = estimate,
                                           .pieces = analysis.pieces,
                                           .before = run.first,
                                           .now = run.last,
                                           .limits = run.limits,
                                           .tuned = job_.tuner.mode == "on",
                                           .workers = run.workers,
                                           .makes_splits = makes_splits()});
    analysis.what_ifs = what_ifs({.job = job_,
                                  .model = model,
                                  .pieces = analysis.pieces,
                                  .rows_per_second = analysis.rows_per_second,
                                  .machine_cpus = all_cpus_.most(),
                                  .local_workers = [this](std::uint32_t workers) {
                                    return local_workers_command(job_, workers, machine_);
                                  }});
    analysis.limit =
        limiting_part_of(activity_of(run.first, run.last, cpus), job_.stages, analysis.pieces);
    return analysis;
  }

  /// Replaces the model's rates where a trial can be made. A job that cannot run under the change
  /// has a rate of 0.
  Status try_out(Analysis& analysis) {
    const auto trials = std::ranges::count_if(
        analysis.what_ifs, [](const WhatIf& each) { return each.trial.has_value(); });
    for (WhatIf& each : analysis.what_ifs) {
      if (!each.trial) continue;
      // The limit of the run before it counts for the whole process.
      if (auto free = all_cpus_.set(all_cpus_.most()); !free) return free;
      auto run =
          measure_job(*each.trial, each.change, (1 - kBaseShare) / static_cast<double>(trials));
      const ClusterSpec cluster = each.trial->cluster;
      each.trial.reset();
      if (options_.events.stop_requested()) return fail(Code::kUnavailable, "stopped");
      if (run && !is_enough(*run, cluster)) continue;
      each.rows_per_second = run ? run->rows_per_second() : 0;
      each.by_trial = true;
      if (!run) each.note = run.error().message;
    }
    return {};
  }

  const JobSpec& job_;
  const AnalysisOptions& options_;
  std::optional<RunDir> folder_;
  const CpuLimit all_cpus_;
  const LocalMachine machine_{
      .cpus = all_cpus_.numbers(), .memory = available_memory(), .program = options_.program};
};

}  // namespace

Result<Analysis> analyze(const JobSpec& job, const AnalysisOptions& options) {
  return Analyzer(job, options).run();
}

}  // namespace forebay
