#include "engine/train/model_threads.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "engine/job/quantity.h"
#include "engine/report/json_object.h"

namespace forebay {
namespace {

/// Long compared with a step and with a scheduler's time slice.
constexpr std::chrono::milliseconds kWindow{500};
constexpr std::uint64_t kFewestSteps = 4;

std::string format_rate(double rows_per_second) {
  return format_count(static_cast<std::uint64_t>(rows_per_second)) + " rows/s";
}

}  // namespace

bool ModelThreads::may_change(const JobSpec& job) {
  return !job.trainer.deterministic && learns(job.trainer.model) && job.trainer.device == "cpu";
}

// A batch is trained in kModelShares shares; more threads would only wait.
int ModelThreads::first(const JobSpec& job, int cpus, int trainers) {
  if (job.trainer.threads > 0) return job.trainer.threads;
  const int own = std::min(job.pipeline.cpus, cpus / trainers);
  return std::clamp(own, 1, static_cast<int>(kModelShares));
}

int ModelThreads::most(const JobSpec& job, int start) {
  return may_change(job) ? std::max(start, job.pipeline.cpus) : start;
}

ModelThreads::ModelThreads(const JobSpec& job, int start, int most, Model& model, Hooks hooks)
    : may_change_(may_change(job)),
      most_(most),
      hooks_(std::move(hooks)),
      model_(model),
      using_(start) {
  if (!may_change_) return;
  if (hooks_.central == nullptr) search_.emplace(options());
  model_.set_threads(start);
  log_.open(job.run.dir + "/threads.jsonl", std::ios::trunc);
}

void ModelThreads::use(int threads) {
  if (threads == using_) return;
  model_.set_threads(threads);
  using_ = threads;
}

void ModelThreads::after_step(std::uint64_t rows, std::chrono::nanoseconds trained) {
  if (!may_change_ || fixed_ || most_ < 2) return;
  if (follows_central()) {
    search_.reset();
    return;
  }
  if (!search_) {
    search_alone();
    rows_before_ = rows;
    trained_before_ = trained;
  }
  ++steps_;
  const auto lasted = trained - trained_before_;
  if (lasted < kWindow || steps_ < kFewestSteps) return;
  const double rate = static_cast<double>(rows - rows_before_) / in_seconds(lasted);
  steps_ = 0;
  rows_before_ = rows;
  trained_before_ = trained;
  if (!hooks_.acts()) return;
  if (const auto trial = search_->add(rate)) note(*trial);
  use(search_->threads());
}

// A tuner that is off decides nothing, so its silence means nothing.
bool ModelThreads::follows_central() {
  if (hooks_.central == nullptr) return false;
  const bool acts = hooks_.acts();
  const auto advised = hooks_.central->latest();
  if (advised && *advised > 0 && acts) use(std::min(*advised, most_));
  hooks_.central->report(using_, acts ? most_ : 0);
  return advised.has_value() || !acts;
}

// Begins with the number in use and a window of its own.
void ModelThreads::search_alone() {
  steps_ = 0;
  search_.emplace(options());
  hooks_.say("the central tuner is silent; the number of the model's threads is searched for here");
}

void ModelThreads::note(const tuner::ThreadTrial& trial) {
  JsonObject line;
  line.add("rows", rows_before_)
      .add("before", trial.before)
      .add("tried", trial.tried)
      .add("rows_per_second_before", trial.rate_before)
      .add("rows_per_second_tried", trial.rate_tried)
      .add("kept", trial.kept);
  log_ << line.text() << '\n' << std::flush;
  if (!trial.kept) return;
  hooks_.say("trainer.threads " + std::to_string(trial.before) + " -> " +
             std::to_string(trial.tried) + ": " + format_rate(trial.rate_tried) + " instead of " +
             format_rate(trial.rate_before));
}

void ModelThreads::fix(int threads) {
  fixed_ = true;
  use(threads);
  if (hooks_.central != nullptr) hooks_.central->report(using_, 0);
}

Result<std::string> ModelThreads::check(int threads) const {
  if (!may_change_) {
    return fail(Code::kInvalid,
                "trainer.threads stays as the job file has it: trainer.deterministic = true");
  }
  if (threads < 1 || threads > most_) {
    return fail(Code::kInvalid, "trainer.threads is " + std::to_string(threads) +
                                    ", but must be within 1 to " + std::to_string(most_) +
                                    ", the run's pipeline.cpus");
  }
  return "trainer.threads = " + std::to_string(threads);
}

}  // namespace forebay
