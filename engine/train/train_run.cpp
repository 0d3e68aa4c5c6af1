#include "engine/train/train_run.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/job/device_text.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "engine/process/run_dir.h"
#include "engine/process/stop_request.h"
#include "engine/train/learned_state.h"
#include "engine/train/model_threads.h"
#include "trainer/model_description.h"
#include "trainer/saving/state_texts.h"

namespace forebay {

namespace {

ModelThreads::Machine machine_of(const std::optional<RankEnvironment>& ranks) {
  return {.cpus = available_cpus(), .trainers = ranks ? ranks->local_size : 1};
}

std::string without(const Checkpoint& checkpoint) {
  return "; once " + checkpoint.path + " is moved away, --resume goes on from the one before it";
}

}  // namespace

TrainRun::TrainRun(JobSpec job, Options options)
    : job_(std::move(job)),
      options_(std::move(options)),
      first_threads_(ModelThreads::first(job_, machine_of(options_.ranks))) {
  job_.trainer.threads = ModelThreads::most(job_, first_threads_);
}

Exit TrainRun::run() {
  auto held = RunDir::hold(job_.run.dir);
  if (!held) return Exit::refused(held.error());
  if (auto status = Tuning::check(job_); !status) return Exit::refused(status.error());
  const CpuLimit cpus(options_.ranks ? options_.ranks->local_rank : 0);
  if (auto status = cpus.set(job_.pipeline.cpus); !status) return Exit::refused(status.error());
  auto cluster = TrainerNode::open(job_, "train", say_of_cluster);
  if (!cluster) return Exit::refused(cluster.error());
  cluster_ = std::move(*cluster);
  auto leading = Leading::open(job_, options_.ranks);
  if (!leading && StopRequest::requested()) return leave(Exit::stopped(StopRequest::signal()));
  if (!leading) return leave(exit_of_meeting(leading.error()));
  leading_ = std::move(*leading);
  if (auto status = prepare(); !status) {
    // The other ranks end as this one does: with 1 only where a rank was lost.
    const bool lost = leading_->has_lost_a_rank();
    leading_->end(fail(lost ? status.error().code : Code::kInvalid, status.error().message));
    remove_tables(job_.trainer, leading_->ranks());
    if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
    return lost ? Exit::failed(status.error()) : Exit::refused(status.error());
  }
  Tuning tuning(*run_, job_, cpus, "train");
  RunScreen::Cluster members;
  if (cluster_) members = [this] { return cluster_->status(); };
  RunScreen screen(*run_, job_, "train", &tuning, std::move(members));
  auto progress = train(screen, tuning);
  screen.stream_ended();
  tuning.end();
  screen.end();
  end_saving(progress.has_value());
  if (cluster_) cluster_->end(progress ? "" : progress.error().message);
  if (!progress) {
    leading_->end(fail(progress.error().code, progress.error().message));
    return leave_with(Exit::failed(progress.error()));
  }
  return finish(*progress, screen, tuning);
}

// The order matters: what is cheap to refuse comes first, what removes something comes last.
Status TrainRun::prepare() {
  auto checkpoints = Checkpointing::open(job_, options_.begin);
  if (!checkpoints) return pass(checkpoints);
  checkpoints_ = std::move(*checkpoints);
  auto run = JobRun::open(job_, JobRun::Rows::kTraining, RunScreen::opening());
  if (!run) return pass(run);
  run_ = std::move(*run);
  auto evaluating = Evaluating::open(job_, run_->dataset().format().schema());
  if (!evaluating) return pass(evaluating);
  evaluating_ = std::move(*evaluating);
  if (auto status = leading_->accept(run_->schema()); !status) return status;
  if (auto status = make_model(); !status) return status;
  if (auto fits = evaluating_->fits(trained_.resident_bytes); !fits) return fits;
  if (auto status = leading_->wait_until_ready(); !status) return status;
  if (auto status = resume(); !status) return status;
  if (auto status = start(); !status) return status;
  const auto& found = evaluating_->found();
  const bool evaluated = !found.empty() && found.back().step == run_->begin().batches;
  auto log = TrainLog::open(job_, run_->begin(), {log_kept_, evaluated});
  if (!log) return pass(log);
  log_.emplace(std::move(*log));
  return checkpoints_->began(run_->clock());
}

Status TrainRun::make_model() {
  const auto fits = [this](std::uint64_t resident) { return run_->fits(resident); };
  auto trained =
      make_trained_model(job_, run_->schema(), leading_->ranks(), fits, evaluating_->free_bytes());
  if (!trained) return pass(trained);
  trained_ = std::move(*trained);
  const std::string on_device = describe_device(job_, run_->schema());
  if (!on_device.empty()) RunScreen::opening().announce(on_device);
  trained_.resident_bytes += leading_->slice_bytes(job_, run_->schema());
  trained_.model = leading_->lead(std::move(trained_.model), job_, run_->schema());
  return {};
}

Status TrainRun::resume() {
  auto found = checkpoints_->restore(
      *trained_.model, [this](const Checkpoint& checkpoint) { return go_on_from(checkpoint); });
  if (!found) return pass(found);
  if (found->checkpoint) {
    restore_learned_state(found->checkpoint->state.texts, job_.run.dir);
    losses_ = std::move(found->checkpoint->state.losses);
    log_kept_ = found->checkpoint->state.texts[kTrainLogFile];
    return evaluating_->restore(found->checkpoint->state.evaluations, found->checkpoint->batches);
  }
  return found->touched ? begin_again() : Status{};
}

/// A whole checkpoint whose numbers do not fit ends the search: what is behind it, and starting
/// anew, would cost steps that a user may still save.
Status TrainRun::go_on_from(const Checkpoint& checkpoint) {
  if (auto agreed = is_of_this_model(checkpoint); !agreed) return agreed;
  const std::string loader = checkpoint.path + "/" + kLoaderFile;
  const std::uint64_t steps = checkpoint.state.losses.steps();
  if (steps != 0 && steps != checkpoint.batches) {
    return fail(Code::kInvalid, loader + ": resume refused: \"batches\" is " +
                                    std::to_string(checkpoint.batches) +
                                    ", but losses.json counts " + std::to_string(steps) + " steps" +
                                    without(checkpoint));
  }
  if (auto resumed = run_->resume(checkpoint.state.loader); !resumed) {
    const Error& error = resumed.error();
    if (error.code != Code::kCorrupt) return resumed;
    return fail(Code::kInvalid, loader + ": " + error.message + without(checkpoint));
  }
  const std::string note = note_of_version(checkpoint.state.loader, loader);
  if (!note.empty()) RunScreen::opening().announce(note);
  leading_->goes_on_from(checkpoint, job_, run_->schema());
  return {};
}

Status TrainRun::is_of_this_model(const Checkpoint& checkpoint) const {
  const auto text = checkpoint.state.texts.find(kModelFile);
  if (text == checkpoint.state.texts.end()) return {};
  auto kept = parse_model(text->second, checkpoint.path + "/" + kModelFile);
  return kept ? may_go_on(*kept, job_.trainer) : Status(pass(kept));
}

// All checkpoints are damaged, and which was found out as they were loaded.
Status TrainRun::begin_again() {
  if (auto status = run_->resume(run_->state({})); !status) return status;
  if (!leading_->alone()) {
    return fail(Code::kCorrupt, "no complete checkpoint is left; begin anew with --restart");
  }
  trained_.model.reset();
  return make_model();
}

Status TrainRun::start() {
  run_->announce_batches(
      [this](const std::shared_ptr<const Batch>& batch) { trained_.model->prefetch(batch); });
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  const auto sharing = cluster_ ? cluster_->sharing() : JobRun::Sharing{};
  const std::uint64_t taken = trained_.resident_bytes + evaluating_->free_bytes();
  if (auto status = run_->start(taken, kAll, sharing); !status) return status;
  return cluster_ ? cluster_->begin(*run_) : Status{};
}

Result<TrainProgress> TrainRun::train(RunScreen& screen, Tuning& tuning) {
  threads_.emplace(
      job_, first_threads_, job_.trainer.threads, *trained_.model,
      ModelThreads::Hooks{.acts = [&tuning] { return tuning.acts(); },
                          .say = [&screen](const std::string& line) { screen.note(line); }});
  tuning.take_threads([this](int threads) { return threads_->set(threads); });
  // What a stop kept the run before from.
  if (auto done = evaluate_after(run_->begin(), screen); !done) return pass(done);
  paused_before_ = run_->source().paused();
  TrainLoop::Options options;
  options.start = run_->begin();
  options.losses = losses_;
  options.checkpoint_every = job_.trainer.checkpoint_every;
  options.checkpoint_steps = job_.trainer.checkpoint_steps;
  options.on_step = [&](const TrainProgress& progress) {
    log_step(progress, screen);
    return evaluate_after(progress.position, screen);
  };
  options.enough = [this] { return evaluating_->current().enough; };
  if (checkpoints_->kept()) {
    options.save = [this](const TrainProgress& progress) { return save(progress); };
  }
  TrainLoop loop(*trained_.model, leading_->dealt(run_->source()), run_->clock(), options);
  auto progress = loop.run(StopRequest::flag());
  reached_ = loop.progress();
  return progress;
}

void TrainRun::log_step(const TrainProgress& progress, RunScreen& screen) {
  const auto paused = run_->source().paused() - paused_before_;
  threads_->after_step(progress.rows, progress.elapsed - paused);
  if (job_.trainer.tables.storage == TrainerSpec::Storage::kTiered) {
    screen.looked_up(trained_.model->lookups());
  }
  log_->step(progress, trained_.model->learning_rate(), paused);
  if (const std::string note = log_->take_note(); !note.empty()) screen.note(note);
}

Status TrainRun::evaluate_after(const Position& position, RunScreen& screen) {
  const std::uint64_t step = position.batches;
  if (!evaluating_->due(step)) return {};
  auto quality = evaluating_->in_the_middle(*trained_.model, *run_, step);
  if (!quality) return pass(quality);
  if (!*quality) return {};
  log_->evaluated(position, **quality);
  screen.note("after step " + std::to_string(step) + ": " + describe(**quality));
  return {};
}

TrainState TrainRun::state_at(const TrainProgress& progress) const {
  TrainState state{run_->state(progress.position), progress.losses, evaluating_->kept(),
                   saved_learned_state(job_.run.dir)};
  if (auto shape = shape_of(job_.trainer, run_->schema())) {
    state.texts[kModelFile] = to_json({.spec = job_.trainer, .shape = *shape});
  }
  if (std::string kept = log_->kept(); !kept.empty()) {
    state.texts[kTrainLogFile] = std::move(kept);
  }
  return state;
}

Result<bool> TrainRun::save(const TrainProgress& progress) {
  const MeteredSource::Pause pause(run_->source());
  return checkpoints_->save(*trained_.model, state_at(progress));
}

// A run that did nothing leaves what is there as it is.
void TrainRun::end_saving(bool trained) {
  if (!checkpoints_->kept()) return;
  saved_ = trained && reached_.batches > 0
               ? checkpoints_->finish(*trained_.model, state_at(reached_))
               : checkpoints_->fail_after(reached_.position.batches);
}

Exit TrainRun::finish(const TrainProgress& progress, const RunScreen& screen,
                      const Tuning& tuning) {
  // A batch may have been taken and not trained on.
  const bool whole = run_->source().reached_end() &&
                     run_->source().position().batches == progress.position.batches;
  const Position position = whole ? run_->source().position() : progress.position;
  TrainReport report;
  report.outcome = outcome_of(*run_, position, screen.elapsed(), progress.waited);
  report.outcome.decisions = tuning.decisions();
  report.outcome.tuner_cpu_seconds = tuning.cpu_seconds();
  if (cluster_) {
    report.outcome.rows_by_node = cluster_->rows_by_node(position);
    report.outcome.address = cluster_->address();
  }
  report.summary = screen.summary(report.outcome);
  report.learns = trained_.model->learns();
  report.loss = progress.losses.mean();
  report.lookups = trained_.model->lookups();
  if (progress.enough) run_->stop();
  if (whole || progress.enough) {
    run_->close();
    const std::uint64_t resident = std::max(trained_.resident_bytes, resident_bytes());
    const std::size_t found = evaluating_->found().size();
    auto quality = evaluating_->at_end(*trained_.model, resident, position.batches);
    if (!quality) {
      leading_->end(fail(quality.error().code, quality.error().message));
      return leave_with(Exit::failed(quality.error()));
    }
    report.quality = *quality;
    if (evaluating_->found().size() > found) log_->evaluated(position, *report.quality);
  }
  report.threads = threads_->threads();
  report.stopped_early = progress.enough;
  report.evaluations = evaluating_->found();
  report.best_step = evaluating_->current().best_step;
  leading_->end({});
  report.outcome.peak_memory_bytes = peak_resident_bytes();
  report.saved = saved_;
  const bool failed = saved_ && !saved_->written;
  // A failed run prints no JSON.
  if (!failed || options_.report == TrainReport::As::kText) print_report(report, options_.report);
  if (failed) return leave_with(Exit::failed(saved_->written.error()));
  if (StopRequest::requested()) return leave_with(Exit::stopped(StopRequest::signal()));
  remove_tables(job_.trainer, leading_->ranks());
  return Exit::done();
}

Exit TrainRun::leave_with(const Exit& exit) {
  remove_tables(job_.trainer, leading_->ranks());
  return leave(exit);
}

}  // namespace forebay
