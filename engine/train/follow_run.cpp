#include "engine/train/follow_run.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/process/cpu_limit.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "engine/process/stop_request.h"
#include "engine/ranks/follow.h"
#include "engine/ranks/rank_meeting.h"
#include "engine/run/run_screen.h"
#include "engine/train/leading.h"
#include "engine/train/model_threads.h"
#include "engine/train/trained_model.h"

namespace forebay {
namespace {

/// Of the limit, as rank 0 has it of its pipeline.
Status fits(const JobSpec& job, std::uint64_t bytes) {
  const std::uint64_t limit = job.pipeline.memory_bytes;
  if (bytes <= limit) return {};
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  return fail(Code::kOverloaded,
              "this rank's part of the model needs " + std::to_string(bytes / kMiB + 1) +
                  " MiB, and pipeline.memory is " + std::to_string(limit / kMiB) + " MiB");
}

Result<std::unique_ptr<Model>> make_part(const JobSpec& job, RankFollower& leader,
                                         Collective& ranks) {
  auto trained = make_trained_model(
      job, leader.schema(), &ranks, [&](std::uint64_t bytes) { return fits(job, bytes); }, 0);
  if (!trained) return pass(trained);
  return std::move(trained->model);
}

Exit follow_to_the_end(const JobSpec& job, RankFollower& leader, Collective& ranks, int rank) {
  if (auto status = leader.wait_for_acceptance(); !status) return exit_of_meeting(status.error());
  auto model = make_part(job, leader, ranks);
  leader.ready(model ? Status{} : Status(fail(model.error().code, model.error().message)));
  if (!model) return Exit::refused(model.error());
  auto done = follow(leader, **model);
  remove_tables(job.trainer, &ranks);
  if (!done) {
    leader.close();
    return leave(Exit::failed(done.error()));
  }
  std::fprintf(stderr, "forebay: rank %d trained on %llu rows of %llu batches\n", rank,
               static_cast<unsigned long long>(done->rows),
               static_cast<unsigned long long>(done->batches));
  leader.close();
  const int signal = std::max(done->signal, StopRequest::signal());
  return signal == 0 ? Exit::done() : leave(Exit::stopped(signal));
}

}  // namespace

Exit run_following(JobSpec job, const RankEnvironment& ranks) {
  job.trainer.threads =
      ModelThreads::first(job, {.cpus = available_cpus(), .trainers = ranks.local_size});
  if (auto status = check_ranks(job, ranks); !status) return Exit::refused(status.error());
  const CpuLimit cpus(ranks.local_rank);
  if (auto status = cpus.set(job.pipeline.cpus); !status) return Exit::refused(status.error());
  const SystemClock clock;
  auto met = meet_leader(job, ranks,
                         {.rank = ranks.rank,
                          .size = ranks.size,
                          .group = ranks.group,
                          .keys = job.cluster.keys,
                          .alike = alike(job),
                          .address = {},
                          .batch_size = job.order.batch_size,
                          .timeout = job.trainer.rank_timeout,
                          .stop_signal = StopRequest::signal,
                          .on_stop = StopRequest::ask,
                          .say = say_of_ranks},
                         clock, StopRequest::flag());
  if (!met && StopRequest::requested()) return leave(Exit::stopped(StopRequest::signal()));
  if (!met) return leave(exit_of_meeting(met.error()));
  met->leader->breaks(*met->ranks);
  return follow_to_the_end(job, *met->leader, *met->ranks, ranks.rank);
}

}  // namespace forebay
