#include "engine/analyze/measured_run.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "core/runtime/ticker.h"
#include "engine/cluster/trainer_view.h"
#include "engine/job/quantity.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "engine/run/live_pipeline.h"
#include "engine/train/train_run.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kRelayPeriod{50};
constexpr std::uint64_t kWithoutEnd = 1'000'000'000;
constexpr std::uint64_t kEnoughBatches = 4;
constexpr int kObservations = 8;  // in the whole length
constexpr double kMostTimes = 3;  // the length, for batches that take long
/// For workers to start and join, on a busy machine, too.
constexpr double kSecondsToJoin = 15;

/// The job without all that outlives the measurement.
JobSpec measured_job(JobSpec job) {
  // Workers look for the address where a run of the job has it.
  if (job.cluster.used() && job.cluster.address_file.empty()) {
    job.cluster.address_file = job.run.dir + "/address";
  }
  job.run.dir += "/analyze";
  job.order.epochs = kWithoutEnd;
  job.trainer.checkpoint.clear();
  job.trainer.evaluate.clear();
  job.trainer.evaluate_every = 0;
  job.trainer.early_stopping = 0;
  job.trainer.tensorboard.clear();
  job.trainer.csv.clear();
  return job;
}

/// Takes the samples of a run that has begun, and asks it to stop when it has seen enough. The
/// calls come from one thread.
class Sampler final : public RunView {
 public:
  Sampler(const ViewedRun& viewed, const Measuring& measuring, StopSource& stop,
          std::string schedstat, MeasuredRun& into)
      : viewed_(viewed),
        measuring_(measuring),
        stop_(stop),
        schedstat_(std::move(schedstat)),
        into_(into) {
    into_.description = description_of(viewed_.run, viewed_.job, StageGroups::apart());
    viewed_.run.plan().measure_operators();
    start_ = observed_ = sample();
    began_ = start_.at;
  }

  void look() override {
    RunSample now = sample();
    // Workers that the job waits for are not there at once: its time begins with its first step.
    const bool joining = viewed_.job.cluster.min_workers > 0 && now.steps == 0;
    if (joining) start_ = observed_ = now;
    const auto passed = now.at - start_.at;
    const auto warm_up = std::chrono::duration_cast<std::chrono::nanoseconds>(measuring_.length *
                                                                              measuring_.warm_up);
    if (!warm_ && passed >= warm_up && now.steps > 0) {
      warm_ = true;
      into_.first = now;
    }
    if (now.at - observed_.at >= measuring_.length / kObservations) observe(now);
    show(now);
    const bool enough = warm_ && now.steps >= into_.first.steps + kEnoughBatches;
    const bool over = passed >= measuring_.length && enough;
    const double most = kMostTimes * std::max(1.0, in_seconds(measuring_.length));
    const bool too_long = joining ? in_seconds(now.at - began_) >= std::max(kSecondsToJoin, most)
                                  : in_seconds(passed) >= most;
    if (!ended_ && (over || too_long)) end(std::move(now));
  }

  void say(const std::string& line) override { measuring_.events.announce(line); }

 private:
  RunSample sample() const {
    const MeteredSource& source = viewed_.run.source();
    RunSample now;
    now.at = viewed_.run.clock().now();
    now.pipeline = viewed_.run.pipeline().stats();
    now.operators = viewed_.run.plan().operator_times();
    now.rows = source.rows();
    now.batches = source.batches();
    now.steps = source.steps();
    now.worked = source.worked();
    now.waited = source.waited();
    now.paused = source.paused();
    now.cpu_seconds = process_cpu_seconds();
    now.trainer_ready_seconds = run_delay_of(proc_text(schedstat_));
    return now;
  }

  tuner::Limits limits() const {
    return {.cpus = static_cast<double>(viewed_.job.pipeline.cpus),
            .memory_bytes = viewed_.memory_limit()};
  }

  void observe(const RunSample& now) {
    tuner::Observation seen = observation_of(observed_, now, limits());
    seen.at_seconds -= in_seconds(start_.at);
    into_.observations.push_back(std::move(seen));
    observed_ = now;
  }

  void show(const RunSample& now) const {
    if (!measuring_.progress) return;
    const double seconds = in_seconds(now.at - start_.at);
    const auto rate =
        static_cast<std::uint64_t>(seconds > 0 ? static_cast<double>(now.rows) / seconds : 0);
    measuring_.progress("measuring " + measuring_.what + ": " + format_number(seconds, 1) + " of " +
                        format_number(in_seconds(measuring_.length), 1) + " s, " +
                        format_count(rate) + " rows/s");
  }

  void end(RunSample now) {
    ended_ = true;
    if (!warm_) into_.first = start_;
    observe(now);
    into_.history = viewed_.run.pipeline().history();
    into_.limits = limits();
    into_.batches = now.steps - into_.first.steps;
    if (viewed_.cluster) into_.workers = workers_in(viewed_.cluster(), kLocalNode);
    into_.last = std::move(now);
    stop_.ask(SIGINT);
  }

  const ViewedRun viewed_;
  const Measuring& measuring_;
  StopSource& stop_;
  const std::string schedstat_;  // of the trainer's thread
  MeasuredRun& into_;
  RunSample start_;
  RunSample observed_;
  std::chrono::nanoseconds began_{0};
  bool warm_ = false;
  bool ended_ = false;
};

/// The thread that calls it trains.
std::string schedstat_of_this_thread() {
  return "/proc/self/task/" + std::to_string(::gettid()) + "/schedstat";
}

Status status_of(const TrainEnd& end, const MeasuredRun& measured, const RunEvents& events) {
  if (events.stop_requested()) return fail(Code::kUnavailable, "stopped");
  if (end.how == TrainEnd::How::kFailed || end.how == TrainEnd::How::kRefused) {
    return fail(end.error.code, end.error.message);
  }
  if (measured.last.at.count() == 0) {
    return fail(Code::kNotFound, "the job's data ended before anything was measured");
  }
  return {};
}

}  // namespace

double MeasuredRun::seconds() const { return in_seconds(last.at - first.at); }

double MeasuredRun::rows_per_second() const {
  const double passed = in_seconds(last.worked - first.worked + last.waited - first.waited);
  const auto given = static_cast<double>(last.batches - first.batches);
  if (passed <= 0 || given <= 0) return 0;
  const double rows_per_batch = static_cast<double>(last.rows - first.rows) / given;
  return rows_per_batch * static_cast<double>(last.steps - first.steps) / passed;
}

Result<MeasuredRun> measure(const JobSpec& job, const Measuring& measuring) {
  MeasuredRun measured;
  StopSource stop;
  RunEvents events = measuring.events;
  events.stop = &stop;
  events.outgrown = {};  // what earlier trials have left counts here, too
  const std::string schedstat = schedstat_of_this_thread();
  events.view = [&](const ViewedRun& viewed) {
    return std::make_unique<Sampler>(viewed, measuring, stop, schedstat, measured);
  };
  const Ticker relay(kRelayPeriod, [&stop, asked = measuring.events.stop] {
    if (asked != nullptr && asked->requested()) stop.ask(asked->signal());
  });
  TrainRun run(measured_job(job), {.events = events, .index_of = measuring.index_of});
  const TrainEnd end = run.run();
  if (auto status = status_of(end, measured, measuring.events); !status) return pass(status);
  return measured;
}

}  // namespace forebay
