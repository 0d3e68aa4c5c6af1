#include "engine/train/train_run.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

#include "core/runtime/actor.h"
#include "core/runtime/ask.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "engine/run/policy_checkpoint.h"
#include "trainer/model_description.h"
#include "trainer/saving/checkpoint.h"

namespace forebay {

namespace {

constexpr std::chrono::seconds kTablesPeriod{1};
/// As that of a process's first thread: libtorch and libraries of users need no less.
constexpr std::size_t kTrainerStack = std::size_t{8} << 20;

TrainRun::Options with_stop(TrainRun::Options options, StopSource& nobody) {
  if (options.events.stop == nullptr) options.events.stop = &nobody;
  return options;
}

std::string without(const Checkpoint& checkpoint) {
  return "; once " + checkpoint.path + " is moved away, --resume goes on from the one before it";
}

}  // namespace

/// Caller → trainer: begin; the answer is the run's end.
struct TrainRun::Begin {
  static constexpr std::string_view kTag = "train.begin/1";
  using Reply = std::unique_ptr<TrainEnd>;
};

/// Trainer → itself: take the next step.
struct TrainRun::Step {
  static constexpr std::string_view kTag = "train.step/1";
};

/// Checkpoint writer → trainer: a checkpoint has ended.
struct TrainRun::CheckpointEnded {
  static constexpr std::string_view kTag = "train.checkpoint_ended/1";
};

/// User → trainer: so many threads for the model from the next step on.
struct TrainRun::SetThreads {
  static constexpr std::string_view kTag = "train.set_threads/1";
  int threads = 0;
};

class TrainRun::Trainer final : public ActorOf<Trainer, Begin, Step, CheckpointEnded, SetThreads> {
 public:
  explicit Trainer(TrainRun& run) : run_(run) {}
  ~Trainer() override { run_.let_go(); }
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  Result<Begin::Reply> on(const Begin&, std::unique_ptr<Replier<Begin::Reply>>& caller,
                          Context& context) {
    caller_ = std::move(caller);
    go_on(run_.begin(), context);
    return Begin::Reply();
  }
  Status on(const Step&, Context& context) {
    go_on(run_.step(), context);
    return {};
  }
  Status on(const CheckpointEnded&, Context&) {
    run_.checkpoints_->collect();
    return {};
  }
  Status on(const SetThreads& set, Context&) {
    run_.threads_->fix(set.threads);
    return {};
  }

 private:
  void go_on(std::optional<TrainEnd> end, Context& context) {
    if (end) return caller_->answer(std::make_unique<TrainEnd>(std::move(*end)));
    deliver(*self(context).receiver(), Step{});  // Behind the messages that came meanwhile.
  }

  TrainRun& run_;
  std::unique_ptr<Replier<Begin::Reply>> caller_;  // answers when destroyed, if the trainer crashed
};

TrainRun::TrainRun(JobSpec job, Options options)
    : job_(std::move(job)),
      options_(with_stop(std::move(options), nobody_)),
      stop_(*options_.events.stop),
      first_threads_(ModelThreads::first(job_, available_cpus(),
                                         options_.ranks ? options_.ranks->local_size : 1)),
      actors_(clock_) {
  job_.trainer.threads = ModelThreads::most(job_, first_threads_);
}

TrainRun::~TrainRun() = default;

TrainEnd TrainRun::run() {
  trainer_ = actors_.spawn({.name = "trainer",
                            .stack_bytes = kTrainerStack,
                            .on_crash = [this](const Error& crash) { crash_ = crash; }},
                           [this] { return std::make_unique<Trainer>(*this); });
  auto end = ask(trainer_, Begin{}).wait();
  if (end) return std::move(**end);
  return TrainEnd::failed(std::move(crash_));
}

void TrainRun::let_go() {
  if (session_ && !crash_.message.empty()) {
    session_->end(crash_.message);
    session_->finish(describe(TrainEnd::How::kFailed), crash_.message);
  }
  loop_.reset();
  log_.reset();
  threads_.reset();
  checkpoints_.reset();
  evaluating_.reset();
  session_.reset();
  trained_ = {};
  leading_.reset();
}

std::optional<TrainEnd> TrainRun::begin() {
  if (auto status = check_model(job_); !status) return TrainEnd::refused(status.error());
  auto session =
      Session::open(job_, {.command = "train",
                           .events = options_.events,
                           .first_process = options_.ranks ? options_.ranks->local_rank : 0,
                           .index_of = options_.index_of,
                           .lists_once = true});
  if (!session) return TrainEnd::refused(session.error());
  session_ = std::move(*session);
  auto leading = Leading::open(job_, options_.ranks, stop_, options_.events);
  if (!leading && stop_.requested()) return finished(TrainEnd::stopped(stop_.signal()).now());
  if (!leading) return finished(end_of_meeting(leading.error()).now());
  leading_ = std::move(*leading);
  if (auto status = prepare(); !status) return finished(end_unprepared(status.error()));
  if (auto status = begin_training(); !status) return end(status);
  return std::nullopt;
}

std::optional<TrainEnd> TrainRun::step() {
  auto goes_on = loop_->step(stop_.flag());
  if (goes_on && *goes_on) return std::nullopt;
  return end(goes_on ? Status() : Status(pass(goes_on)));
}

TrainEnd TrainRun::end(const Status& trained) {
  if (loop_) reached_ = loop_->progress();
  session_->end_stream();
  session_->end(trained ? "" : trained.error().message);
  end_saving(trained.has_value());
  if (trained) return finished(finish(reached_));
  leading_->end(fail(trained.error().code, trained.error().message), stop_.signal());
  return finished(end_with(TrainEnd::failed(trained.error()).now()));
}

TrainEnd TrainRun::finished(TrainEnd end) {
  session_->finish(describe(end.how), end.error.message);
  return end;
}

// The other ranks end in the same way as this one: the run failed only if a rank was lost. Ranks
// that refuse the job for the same reason may be gone by now.
TrainEnd TrainRun::end_unprepared(const Error& why) {
  const bool lost = why.code == Code::kUnavailable && leading_->has_lost_a_rank();
  const bool no_answer = why.code == Code::kTimeout;  // of a store
  leading_->end(fail(lost || no_answer ? why.code : Code::kInvalid, why.message), stop_.signal());
  remove_tables(job_.trainer, leading_->ranks());
  if (stop_.requested()) return TrainEnd::stopped(stop_.signal());
  return lost || no_answer ? TrainEnd::failed(why) : TrainEnd::refused(why);
}

// The order matters: cheap checks come first, removals come last.
Status TrainRun::prepare() {
  auto checkpoints = Checkpointing::open(job_, options_.begin, options_.events);
  if (!checkpoints) return pass(checkpoints);
  checkpoints_ = std::move(*checkpoints);
  if (auto opened = session_->open_run(); !opened) return opened;
  auto evaluating = Evaluating::open(job_, job_run().dataset().format().schema(), options_.events);
  if (!evaluating) return pass(evaluating);
  evaluating_ = std::move(*evaluating);
  most_ids_ = job_run().most_ids();
  leading_->accept(job_run().schema(), most_ids_);
  if (auto status = make_model(); !status) return status;
  if (auto fits = evaluating_->fits(trained_.resident_bytes); !fits) return fits;
  if (auto status = leading_->wait_until_ready(); !status) return status;
  if (auto status = resume(); !status) return status;
  if (auto status = start(); !status) return status;
  const auto& found = evaluating_->found();
  const bool evaluated = !found.empty() && found.back().step == job_run().begin().batches;
  const auto note = [this](const std::string& line) { session_->watch().note(line); };
  auto log = TrainLog::open(job_, job_run().begin(), note, log_kept_, evaluated);
  if (!log) return pass(log);
  log_.emplace(std::move(*log));
  return checkpoints_->began(job_run().clock(), [trainer = trainer_] {
    static_cast<void>(trainer.tell(CheckpointEnded{}));  // A trainer that has ended needs none.
  });
}

Status TrainRun::make_model() {
  const auto fits = [this](std::uint64_t resident) { return job_run().fits(resident); };
  const BatchColumns columns{job_run().schema(), most_ids_};
  auto trained =
      make_trained_model(job_, columns, leading_->ranks(), fits, evaluating_->free_bytes());
  if (!trained) return pass(trained);
  trained_ = std::move(*trained);
  const std::string on_device = describe_device(job_, columns.schema, columns.ids);
  if (!on_device.empty()) options_.events.announce(on_device);
  trained_.resident_bytes += leading_->slice_bytes(job_, columns);
  trained_.model = leading_->lead(std::move(trained_.model), job_, job_run().schema());
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

/// A complete checkpoint whose numbers do not fit ends the search. Older checkpoints, or a start
/// from the beginning, would lose steps that the user may still be able to save.
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
  if (auto resumed = session_->resume(checkpoint.state.loader, loader); !resumed) {
    const Error& error = resumed.error();
    if (error.code != Code::kCorrupt) return resumed;
    return fail(Code::kInvalid, loader + ": " + error.message + without(checkpoint));
  }
  leading_->goes_on_from(checkpoint, job_, job_run().schema());
  return {};
}

Status TrainRun::is_of_this_model(const Checkpoint& checkpoint) const {
  const auto text = checkpoint.state.texts.find(kModelFile);
  if (text == checkpoint.state.texts.end()) return {};
  auto kept = parse_model(text->second, checkpoint.path + "/" + kModelFile);
  return kept ? may_go_on(*kept, job_.trainer) : Status(pass(kept));
}

// All checkpoints are damaged, which was found while they were loaded.
Status TrainRun::begin_again() {
  if (auto status = job_run().resume(job_run().state({})); !status) return status;
  if (!leading_->alone()) {
    return fail(Code::kCorrupt, "no complete checkpoint is left; begin anew with --restart");
  }
  trained_.model.reset();
  return make_model();
}

Status TrainRun::start() {
  job_run().announce_batches(
      [this](const std::shared_ptr<const Batch>& batch) { trained_.model->prefetch(batch); });
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  return session_->start(trained_.resident_bytes + evaluating_->free_bytes(), kAll);
}

Status TrainRun::begin_training() {
  RunWatch& watch = session_->watch();
  Tuning& tuning = session_->tuning();
  threads_.emplace(
      job_, first_threads_, job_.trainer.threads, *trained_.model,
      ModelThreads::Hooks{.acts = [&tuning] { return tuning.acts(); },
                          .say = [&watch](const std::string& line) { watch.note(line); },
                          .central = session_->thread_advice()});
  tuning.take_threads([this](int threads) -> Result<std::string> {
    auto set = threads_->check(threads);
    if (!set) return set;
    if (auto told = trainer_.tell(SetThreads{threads}); !told) return pass(told);
    return set;
  });
  // Makes up for an evaluation that the previous run's stop prevented.
  if (auto done = evaluate_after(job_run().begin()); !done) return done;
  paused_before_ = job_run().source().paused();
  TrainLoop::Options options;
  options.start = job_run().begin();
  options.losses = losses_;
  options.checkpoint_every = job_.trainer.checkpoint_every;
  options.checkpoint_steps = job_.trainer.checkpoint_steps;
  options.on_step = [this](const TrainProgress& progress) {
    log_step(progress);
    return evaluate_after(progress.position);
  };
  options.enough = [this] { return evaluating_->current().enough; };
  if (checkpoints_->kept()) {
    options.save = [this](const TrainProgress& progress) { return save(progress); };
  }
  loop_.emplace(*trained_.model, leading_->dealt(job_run().source()), job_run().clock(),
                std::move(options));
  loop_->begin();
  return {};
}

void TrainRun::log_step(const TrainProgress& progress) {
  const auto paused = job_run().source().paused() - paused_before_;
  if (trained_.model->learns()) {
    session_->recorder().learned(progress.position.batches, progress.loss);
  }
  threads_->after_step(progress.rows, progress.elapsed - paused);
  if (job_.trainer.tables.storage == TrainerSpec::Storage::kTiered) {
    session_->watch().looked_up(trained_.model->lookups());
  }
  show_tables();
  log_->step(progress, trained_.model->learning_rate(), paused);
}

// A copy of the counts takes a microsecond, so not with each step.
void TrainRun::show_tables() {
  const auto now = job_run().clock().now();
  if (!trained_.model->learns() || now - tables_shown_ < kTablesPeriod) return;
  tables_shown_ = now;
  std::vector<Learning::Table> tables;
  for (const TableTiers& table : trained_.model->tiers()) {
    tables.push_back({.name = job_run().schema().sparse.at(table.feature).name,
                      .rows = table.rows,
                      .row_bytes = table.row_bytes,
                      .in_memory = table.in_memory,
                      .on_disk = table.on_disk,
                      .lookups = table.lookups,
                      .found = table.found});
  }
  session_->recorder().placed(std::move(tables));
}

Status TrainRun::evaluate_after(const Position& position) {
  const std::uint64_t step = position.batches;
  if (!evaluating_->due(step)) return {};
  auto quality = evaluating_->in_the_middle(*trained_.model, job_run(), step);
  if (!quality) return pass(quality);
  if (!*quality) return {};
  log_->evaluated(position, **quality);
  record(step, **quality);
  session_->watch().note("after step " + std::to_string(step) + ": " + describe(**quality));
  return {};
}

TrainState TrainRun::state_at(const TrainProgress& progress) const {
  TrainState state{job_run().state(progress.position), progress.losses, evaluating_->kept(),
                   saved_learned_state(job_.run.dir)};
  if (auto shape = shape_of(job_.trainer, job_run().schema())) {
    state.texts[kModelFile] = to_json({.spec = job_.trainer, .shape = *shape});
  }
  if (std::string kept = log_->kept(); !kept.empty()) {
    state.texts[kTrainLogFile] = std::move(kept);
  }
  return state;
}

bool TrainRun::save(const TrainProgress& progress) {
  const MeteredSource::Pause pause(job_run().source());
  return checkpoints_->save(*trained_.model, state_at(progress));
}

// A run without steps leaves the existing checkpoints unchanged.
void TrainRun::end_saving(bool trained) {
  if (!checkpoints_->kept()) return;
  saved_ = trained && reached_.batches > 0
               ? checkpoints_->finish(*trained_.model, state_at(reached_))
               : checkpoints_->fail_after(reached_.position.batches);
}

TrainEnd TrainRun::finish(const TrainProgress& progress) {
  MeteredSource& source = job_run().source();
  // The last batch taken may not have been trained on.
  const bool whole = source.reached_end() && source.position().batches == progress.position.batches;
  const Position position = whole ? source.position() : progress.position;
  TrainReport report;
  report.outcome = session_->outcome(position, progress.waited);
  report.learns = trained_.model->learns();
  report.loss = progress.losses.mean();
  report.lookups = trained_.model->lookups();
  report.stopped_early = progress.enough;
  if (progress.enough) job_run().stop();
  if (whole || progress.enough) {
    if (auto evaluated = evaluate_at_end(position, report); !evaluated) {
      const Error why{evaluated.error().code, evaluated.error().message + how_to_evaluate_later()};
      leading_->end(tl::unexpected<Error>(why), stop_.signal());
      return end_with(TrainEnd::failed(why).now());
    }
  }
  report.threads = threads_->threads();
  report.evaluations = evaluating_->found();
  report.evaluation_quarantine = evaluating_->quarantine();
  report.best_step = evaluating_->current().best_step;
  leading_->end({}, stop_.signal());
  // Evaluations at the end read, too.
  session_->count_reads(report.outcome);
  report.outcome.peak_memory_bytes =
      peak_resident_bytes() + job_run().memory_watch().peak_of_children();
  report.saved = saved_;
  TrainEnd end = TrainEnd::done();
  if (saved_ && !saved_->written) {
    end = TrainEnd::failed(saved_->written.error()).now();
  } else if (stop_.requested()) {
    end = TrainEnd::stopped(stop_.signal()).now();
  }
  end.report = std::move(report);
  return end_with(std::move(end));
}

/// For the message on an evaluation that failed: whether the training has to be repeated for it.
std::string TrainRun::how_to_evaluate_later() const {
  if (!saved_ || saved_->checkpoint.empty() || saved_->batches_lost > 0) return "";
  return "; the trained model is in " + saved_->checkpoint +
         ": once these rows can be read, --resume computes the evaluation alone";
}

Status TrainRun::evaluate_at_end(const Position& position, TrainReport& report) {
  job_run().close();
  const std::uint64_t resident = std::max(trained_.resident_bytes, resident_bytes());
  const std::size_t found = evaluating_->found().size();
  auto quality = evaluating_->at_end(*trained_.model, resident, position.batches);
  if (!quality) return pass(quality);
  report.quality = *quality;
  if (evaluating_->found().size() > found) {
    log_->evaluated(position, *report.quality);
    record(position.batches, *report.quality);
  }
  return {};
}

void TrainRun::record(std::uint64_t step, const Quality& quality) {
  session_->recorder().evaluated({.step = step, .auc = quality.auc, .log_loss = quality.log_loss});
}

TrainEnd TrainRun::end_with(TrainEnd end) {
  log_->flush();  // The process may end without destructors.
  remove_tables(job_.trainer, leading_->ranks());
  return end;
}

}  // namespace forebay
