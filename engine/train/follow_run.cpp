#include "engine/train/follow_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/process/cpu_limit.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "engine/ranks/follow.h"
#include "engine/ranks/rank_follower.h"
#include "engine/train/leading.h"
#include "engine/train/model_threads.h"
#include "engine/train/trained_model.h"

namespace forebay {
namespace {

/// Checks against the memory limit, which rank 0 uses for its pipeline.
Status fits(const JobSpec& job, std::uint64_t bytes) {
  const std::uint64_t limit = job.pipeline.memory_bytes;
  if (bytes <= limit) return {};
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  return fail(Code::kOverloaded,
              "this rank's part of the model needs " + std::to_string(bytes / kMiB + 1) +
                  " MiB, and pipeline.memory is " + std::to_string(limit / kMiB) + " MiB");
}

}  // namespace

FollowRun::FollowRun(JobSpec job, RankEnvironment ranks, StopSource& stop, RunEvents events)
    : job_(std::move(job)), ranks_(std::move(ranks)), stop_(stop), events_(std::move(events)) {
  job_.trainer.threads =
      ModelThreads::first(job_, {.cpus = available_cpus(), .trainers = ranks_.local_size});
}

TrainEnd FollowRun::run() {
  if (auto status = check_ranks(job_, ranks_); !status) return TrainEnd::refused(status.error());
  const CpuLimit cpus(ranks_.local_rank);
  if (auto status = cpus.set(job_.pipeline.cpus); !status) {
    return TrainEnd::refused(status.error());
  }
  if (auto met = meet(); !met) {
    if (stop_.requested()) return TrainEnd::stopped(stop_.signal()).now();
    return end_of_meeting(met.error()).now();
  }
  return follow_to_the_end();
}

Status FollowRun::meet() {
  auto met = meet_leader(job_, ranks_,
                         {.rank = ranks_.rank,
                          .size = ranks_.size,
                          .group = ranks_.group,
                          .keys = job_.cluster.keys,
                          .alike = alike(job_),
                          .address = {},
                          .batch_size = job_.order.batch_size,
                          .timeout = job_.trainer.rank_timeout,
                          .stop_signal = [this] { return stop_.signal(); },
                          .on_stop = [this](int signal) { stop_.ask(signal); },
                          .say = say_of_ranks(events_)},
                         clock_, stop_.flag());
  if (!met) return pass(met);
  met_ = std::move(*met);
  met_->leader->breaks(*met_->ranks);
  return {};
}

Result<std::unique_ptr<Model>> FollowRun::make_part() {
  auto trained = make_trained_model(
      job_, met_->leader->schema(), met_->ranks.get(),
      [this](std::uint64_t bytes) { return fits(job_, bytes); }, 0);
  if (!trained) return pass(trained);
  return std::move(trained->model);
}

TrainEnd FollowRun::follow_to_the_end() {
  RankFollower& leader = *met_->leader;
  if (auto status = leader.wait_for_acceptance(); !status) return end_of_meeting(status.error());
  auto model = make_part();
  leader.ready(model ? Status{} : Status(fail(model.error().code, model.error().message)));
  if (!model) return TrainEnd::refused(model.error());
  model_ = std::move(*model);
  auto done = follow(leader, *model_);
  remove_tables(job_.trainer, met_->ranks.get());
  if (!done) {
    leader.close();
    return TrainEnd::failed(done.error()).now();
  }
  events_.announce("rank " + std::to_string(ranks_.rank) + " trained on " +
                   std::to_string(done->rows) + " rows of " + std::to_string(done->batches) +
                   " batches");
  leader.close();
  const int signal = std::max(done->signal, stop_.signal());
  return signal == 0 ? TrainEnd::done() : TrainEnd::stopped(signal).now();
}

}  // namespace forebay
