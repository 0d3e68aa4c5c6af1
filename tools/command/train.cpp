#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/command/commands.h"
#include "tools/command/job_arguments.h"
#include "tools/json_object.h"
#include "tools/process/cpu_limit.h"
#include "tools/process/memory_use.h"
#include "tools/process/run_dir.h"
#include "tools/process/stop_request.h"
#include "tools/run/job_run.h"
#include "tools/run/run_outcome.h"
#include "tools/run/run_screen.h"
#include "trainer/checkpoint.h"
#include "trainer/module.h"
#include "trainer/train_loop.h"

namespace forebay {
namespace {

/// What loading libtorch takes before any model is made, as measured with 1.13 and 2.x on the CPU.
constexpr std::uint64_t kTorchBytes = std::uint64_t{180} << 20;

void say(const std::string& line) { std::fprintf(stderr, "forebay: %s\n", line.c_str()); }

void print_quality(const Quality& quality) {
  const auto rows = static_cast<unsigned long long>(quality.rows);
  if (quality.auc) {
    std::printf("AUC %.6f on %llu rows held out\n", quality.auc.value_or(0), rows);
  } else {
    std::printf("no AUC: the %llu rows held out are all of one class\n", rows);
  }
}

/// One training run, from its arguments to its outcome.
class Train {
 public:
  Train(const Invocation& invocation, JobSpec job) : invocation_(invocation), job_(std::move(job)) {
    if (job_.trainer.threads == 0) job_.trainer.threads = std::max(job_.pipeline.cpus - 1, 1);
  }

  Exit run();

 private:
  Status prepare();
  Status open_checkpoints();
  Status make_model();
  Status resume();
  Result<TrainProgress> train();
  Status save(const TrainProgress& progress);
  Status open_evaluation();
  Result<std::optional<Quality>> evaluate_model();
  Exit finish(const TrainProgress& progress, const RunScreen& screen);

  const Invocation& invocation_;
  JobSpec job_;
  std::unique_ptr<JobRun> run_;
  std::unique_ptr<JobRun> evaluation_;  // absent when nothing is held out
  std::unique_ptr<CheckpointStore> checkpoints_;
  std::optional<Checkpoint> from_;
  std::unique_ptr<Model> model_;
  std::uint64_t resident_ = 0;  // with the model at its largest, without the pipeline
  TrainState start_;
};

Status Train::open_checkpoints() {
  const std::string& directory = job_.trainer.checkpoint;
  if (directory.empty() || job_.trainer.model == TrainerSpec::ModelKind::kNone) return {};
  auto store = CheckpointStore::open(directory);
  if (!store) return pass(store);
  checkpoints_ = std::make_unique<CheckpointStore>(std::move(*store));
  if (checkpoints_->empty()) {
    if (invocation_.has("--resume"))
      say("no checkpoint in " + directory + ": training starts anew");
    return {};
  }
  if (invocation_.has("--restart")) return {};
  if (!invocation_.has("--resume")) {
    return fail(Code::kInvalid,
                directory +
                    " holds checkpoints of an earlier run: add --resume to go on from the "
                    "last, --restart to remove them and start anew");
  }
  auto found = checkpoints_->find_last();
  if (!found) return pass(found);
  for (const std::string& damaged : found->damaged) say(damaged);
  from_ = std::move(found->checkpoint);
  say(from_ ? "going on from " + from_->path
            : "no complete checkpoint in " + directory + ": training starts anew");
  return {};
}

Status Train::make_model() {
  auto shape = shape_of(job_.trainer, run_->schema());
  if (!shape) return pass(shape);
  const bool learns = job_.trainer.model == TrainerSpec::ModelKind::kDlrm;
  const std::uint64_t ids = job_.order.batch_size * run_->schema().sparse.size();
  const std::uint64_t wanted = model_bytes(job_.trainer, *shape, job_.order.batch_size, ids);
  const std::uint64_t expected = resident_bytes() + (learns ? kTorchBytes + wanted : 0);
  if (auto fits = run_->fits(expected); !fits) return fits;
  auto model = forebay::make_model(job_.trainer, *shape);
  if (!model) return pass(model);
  model_ = std::move(*model);
  resident_ = std::max(resident_bytes(), expected - (learns ? kTorchBytes : 0));
  return {};
}

Status Train::resume() {
  if (!from_) return {};
  if (auto status = run_->resume(from_->state.loader); !status) return status;
  start_ = from_->state;
  return checkpoints_->load(*from_, *model_);
}

Status Train::prepare() {
  if (auto status = open_checkpoints(); !status) return status;
  auto run = JobRun::open(job_, JobRun::Rows::kTraining, RunScreen::opening());
  if (!run) return pass(run);
  run_ = std::move(*run);
  if (auto status = make_model(); !status) return status;
  if (auto status = open_evaluation(); !status) return status;
  if (auto status = resume(); !status) return status;
  if (auto status = run_->start(resident_, std::numeric_limits<std::uint64_t>::max()); !status)
    return status;
  return checkpoints_ && invocation_.has("--restart") ? checkpoints_->clear() : Status{};
}

Status Train::save(const TrainProgress& progress) {
  auto saved = checkpoints_->save(*model_, {run_->state(progress.position), progress.losses});
  return saved ? Status{} : Status(pass(saved));
}

Result<TrainProgress> Train::train() {
  TrainLoop::Options options;
  options.start = run_->begin();
  options.losses = start_.losses;
  options.checkpoint_every = job_.trainer.checkpoint_every;
  if (checkpoints_) options.save = [this](const TrainProgress& progress) { return save(progress); };
  TrainLoop loop(*model_, run_->source(), run_->clock(), options);
  return loop.run(StopRequest::flag());
}

// Before training: what is wrong with the rows to evaluate on has to show before hours are spent.
Status Train::open_evaluation() {
  const bool files = !job_.trainer.evaluate.empty();
  if (!model_->learns() || (!files && job_.trainer.evaluate_share == 0)) return {};
  const auto rows = files ? JobRun::Rows::kEvaluationFiles : JobRun::Rows::kHeldOut;
  auto opened = JobRun::open(job_, rows, RunScreen::opening());
  if (!opened) return pass(opened);
  evaluation_ = std::move(*opened);
  return {};
}

Result<std::optional<Quality>> Train::evaluate_model() {
  if (!evaluation_ || StopRequest::requested()) return std::optional<Quality>();
  run_->close();
  const std::uint64_t resident = std::max(resident_, resident_bytes());
  auto started = evaluation_->start(resident, std::numeric_limits<std::uint64_t>::max());
  if (!started) return pass(started);
  const RunScreen screen(*evaluation_, job_, "evaluate");
  return evaluate(*model_, evaluation_->source(), StopRequest::flag());
}

Exit Train::run() {
  auto held = RunDir::hold(job_.run.dir);
  if (!held) return Exit::refused(held.error());
  if (auto status = limit_cpus(job_.pipeline.cpus); !status) return Exit::refused(status.error());
  if (auto status = prepare(); !status) {
    return StopRequest::requested() ? Exit::stopped(StopRequest::signal())
                                    : Exit::refused(status.error());
  }
  RunScreen screen(*run_, job_, "train");
  auto progress = train();
  screen.end();
  if (!progress) return leave(Exit::failed(progress.error()));
  return finish(*progress, screen);
}

Exit Train::finish(const TrainProgress& progress, const RunScreen& screen) {
  const bool whole = run_->source().reached_end();
  const Position position = whole ? run_->source().position() : progress.position;
  RunOutcome outcome = outcome_of(*run_, position, screen.elapsed(), progress.waited);
  const std::string summary = screen.summary(outcome);
  std::optional<Quality> quality;
  if (whole) {
    auto evaluated = evaluate_model();
    if (!evaluated) return leave(Exit::failed(evaluated.error()));
    quality = *evaluated;
  }
  outcome.peak_memory_bytes = peak_resident_bytes();
  const std::optional<double> loss = progress.losses.mean();
  if (invocation_.has("--json")) {
    JsonObject json = to_json(outcome);
    if (model_->learns()) json.add("loss", loss);
    if (quality && quality->auc) json.add("auc", quality->auc);
    if (quality && quality->log_loss) json.add("log_loss", quality->log_loss);
    print_json(json);
  } else {
    std::fputs(summary.c_str(), stdout);
    if (loss) std::printf("loss %.6f\n", *loss);
    if (quality) print_quality(*quality);
  }
  return StopRequest::requested() ? leave(Exit::stopped(StopRequest::signal())) : Exit::done();
}

}  // namespace

Exit run_train(const Invocation& invocation) {
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  return Train(invocation, std::move(*job)).run();
}

}  // namespace forebay
