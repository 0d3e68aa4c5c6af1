#include "engine/run/job_run.h"

#include <algorithm>

#include "actors/input/store/stores.h"
#include "actors/position_check.h"
#include "actors/sizing.h"
#include "actors/source/manifest.h"
#include "core/base/clock.h"
#include "core/base/thread/start_thread.h"
#include "core/runtime/ticker.h"
#include "engine/counting/row_counting.h"
#include "engine/plan/plan_report.h"
#include "engine/process/memory_use.h"
#include "engine/run/beside_buffers.h"
#include "engine/run/watch/opening_watch.h"

namespace forebay {
namespace {

/// Threads besides the pipeline's: tuner, control, monitor, metrics server, the run's and the
/// memory's watch with their timers, checkpoints, figures.
constexpr std::size_t kRunThreads = 10;
/// Threads of a cluster's trainer: split client, local worker, a ticker with its timers, timers,
/// the store's threads.
constexpr std::size_t kClusterThreads = 7;

OrderSpec order_of(const JobSpec& job, JobRun::Rows rows) {
  OrderSpec order = job.order;
  if (rows == JobRun::Rows::kTraining) return order;
  order.shuffle = OrderSpec::Shuffle::kNone;
  order.epochs = 1;
  order.drop_last = false;
  return order;
}

DatasetSpec dataset_of(const JobSpec& job, JobRun::Rows rows) {
  DatasetSpec dataset = job.dataset;
  if (rows == JobRun::Rows::kEvaluationFiles) dataset.paths = job.trainer.evaluate;
  return dataset;
}

/// Names the evaluation key that the user wrote in the same error.
Error as_evaluation(Error error) {
  const std::string key = "dataset.paths";
  if (error.message.starts_with(key)) error.message.replace(0, key.size(), "trainer.evaluate");
  if (error.message.starts_with("columns.")) error.message.insert(0, "trainer.evaluate: ");
  return error;
}

constexpr std::chrono::milliseconds kOpeningLook(250);

std::size_t threads_wanted(const JobSpec& job, const JobRun::Sharing& sharing) {
  const std::size_t actors = job.pipeline.total_actors() + kOtherActors + batch_helpers(job);
  return actors + kRunThreads + (sharing.dispatch != nullptr ? kClusterThreads : 0);
}

FileSystems file_systems_of(const JobSpec& job, const JobRun::Hooks& hooks) {
  constexpr std::uint64_t kMostAhead = std::uint64_t{64} << 20;
  StoreClientOptions options;
  options.storage = job.storage;
  options.announce = hooks.announce;
  options.stopped = hooks.stopped;
  options.read_ahead_bytes = std::min(kMostAhead, job.pipeline.memory_bytes / 16);
  return all_file_systems(std::move(options), hooks.counts);
}

}  // namespace

Result<std::unique_ptr<JobRun>> JobRun::open(const JobSpec& job, Rows rows, Hooks hooks) {
  if (!hooks.counts) hooks.counts = std::make_shared<IoCounts>();
  const SystemClock clock;
  const auto watch = std::make_shared<OpeningWatch>(
      OpeningWatch::Options{.limits = {job.run.stall_after, job.run.stall_fail},
                            .counts = hooks.counts,
                            .say = hooks.announce},
      clock.now());
  hooks.stopped = [watch, asked = std::move(hooks.stopped)] {
    return watch->has_failed() || (asked && asked());
  };
  auto opened = [&] {
    const Ticker ticker(kOpeningLook, [&] { watch->look(clock.now()); });
    return open_now(job, rows, hooks);
  }();
  if (!opened && watch->has_failed()) return tl::unexpected<Error>(watch->error());
  return opened;
}

Result<std::unique_ptr<JobRun>> JobRun::open_now(const JobSpec& job, Rows rows,
                                                 const Hooks& hooks) {
  auto run = std::unique_ptr<JobRun>(  // NOLINT: the constructor is private.
      new JobRun(job, rows, hooks));
  run->order_ = order_of(job, rows);
  DatasetOptions& options = run->options_ = dataset_options(job, hooks);
  run->counts_ = options.file_systems.counts();
  options.random_access = run->order_.shuffle != OrderSpec::Shuffle::kNone;
  auto dataset = open_dataset(dataset_of(job, rows), job.columns, options);
  if (!dataset && rows == Rows::kEvaluationFiles) {
    return tl::unexpected<Error>(as_evaluation(std::move(dataset.error())));
  }
  if (!dataset) return pass(dataset);
  run->dataset_ = std::move(*dataset);
  auto plan = TransformPlan::compile(job.transforms, run->dataset_->format().schema(),
                                     {.optimize = job.pipeline.optimize});
  if (!plan) return pass(plan);
  run->plan_ = std::make_unique<TransformPlan>(std::move(*plan));
  recall_plan_costs(plan_costs_path(job.run.dir), *run->plan_);
  run->announce_too_few_rows(hooks);
  run->quarantine_path_ = job.run.dir + (rows == Rows::kEvaluationFiles ? "/quarantine-evaluate.tsv"
                                                                        : "/quarantine.tsv");
  if (!hooks.share.is_all()) {
    if (auto counted = run->count(); !counted) return pass(counted);
    run->begin_.of_ranks = true;
  }
  return run;
}

void JobRun::announce_too_few_rows(const Hooks& hooks) const {
  const std::uint64_t rows = dataset_->rows();
  if (!order_.drop_last || rows >= order_.batch_size || !hooks.announce) return;
  hooks.announce(
      "no batch can be made: order.drop_last leaves out the last batch, and the dataset's " +
      std::to_string(rows) +
      " rows are fewer than order.batch_size = " + std::to_string(order_.batch_size));
}

Status JobRun::count() {
  if (order_.mode != OrderSpec::Mode::kExact) {
    return fail(
        Code::kInvalid,
        "order.mode: several ranks read slices of the same batches, which \"arrival\" order "
        "has not; set it to \"exact\"");
  }
  if (remaining_) return {};
  auto counts = count_rows({.dataset = *dataset_,
                            .plan = *plan_,
                            .files = dataset_of(job_, rows_),
                            .columns = job_.columns,
                            .filter = filter(),
                            .seed = order_.seed,
                            .options = options_,
                            .identity = rows_identity(order_facts(), filter())});
  if (!counts) return pass(counts);
  if (counts->total() == 0) {
    return fail(Code::kInvalid, "dataset.paths: no row remains; all are damaged or left out");
  }
  remaining_ = std::move(*counts);
  return {};
}

OrderFacts JobRun::order_facts() const {
  return {.job = job_, .order = order_, .dataset = *dataset_, .plan = *plan_};
}

std::optional<std::uint64_t> JobRun::rows_remaining() const {
  if (remaining_) return remaining_->total();
  const bool some_may_go = job_.dataset.bad_rows > 0 || !filter().keeps_all() || plan_->samples();
  return some_may_go ? std::nullopt : std::optional(dataset_->rows());
}

LoaderState JobRun::state(const Position& position) const {
  LoaderState state;
  state.position = position;
  state.fingerprint = dataset_->fingerprint().hex();
  state.identity = order_identity(order_facts());
  return state;
}

Status JobRun::resume(const LoaderState& saved) {
  const LoaderState now = state({});
  if (saved.fingerprint != now.fingerprint) {
    std::string what = "its files are not those of the run to resume";
    Digest before;
    if (Digest::parse(saved.fingerprint, before)) {
      if (auto changed = changed_files(job_.run.dir, before, *dataset_);
          changed && !changed->empty()) {
        what = changed->front();
      }
    }
    return fail(Code::kInvalid, "resume refused: the dataset changed: " + what);
  }
  if (auto same = check_order_version(saved, now); !same) return same;
  if (auto same = check_same_job(saved, now); !same) return same;
  auto begin = position_of(saved);
  if (!begin) return pass(begin);
  if (begin->bad_rows > job_.dataset.bad_rows) {
    return fail(Code::kInvalid, "resume refused: " + std::to_string(begin->bad_rows) +
                                    " damaged rows were counted so far, and dataset.bad_rows = " +
                                    std::to_string(job_.dataset.bad_rows) +
                                    " allows no more; set it to as many");
  }
  begin_ = std::move(*begin);
  if (!share_.is_all()) begin_.of_ranks = true;
  if (begin_.of_ranks) begin_.digest = {};
  return {};
}

// Other ranks' states lack the counts of rows left out before, so the run counts all rows.
Result<Position> JobRun::position_of(const LoaderState& saved) {
  const PositionFacts facts{.dataset = *dataset_,
                            .order = order_,
                            .holds_out = job_.trainer.evaluate_share > 0,
                            .samples = plan_->samples()};
  if (!saved.position.of_ranks) return check_position(saved, facts);
  if (auto counted = count(); !counted) return pass(counted);
  return check_ranked_position(saved, facts, *remaining_);
}

RowFilter JobRun::filter() const {
  const double share = job_.trainer.evaluate_share;
  switch (rows_) {
    case Rows::kTraining:
      return {RowFilter::Keep::kTraining, order_.seed, share};
    case Rows::kHeldOut:
      return {RowFilter::Keep::kHeldOut, order_.seed, share};
    case Rows::kEvaluationFiles:
      return {};
  }
  return {};
}

DecodeOptions JobRun::decode() const {
  return {.filter = filter(), .keep_origins = plan_->needs_origins()};
}

DatasetOptions dataset_options(const JobSpec& job, const JobRun::Hooks& hooks) {
  const std::uint64_t taken = (job.run.owns_process ? resident_bytes() : 0) + kMemorySlack;
  return {.base_dir = job.base_dir,
          .run_dir = job.run.dir,
          .spill_limit = job.run.spill_bytes,
          .random_access = job.order.shuffle != OrderSpec::Shuffle::kNone,
          .threads = job.pipeline.cpus,
          .announce = hooks.announce,
          .progress = hooks.indexing,
          .stopped = hooks.stopped,
          .index_from = hooks.index_from,
          .unpack_bytes = job.pipeline.memory_bytes - std::min(job.pipeline.memory_bytes, taken),
          .file_systems = file_systems_of(job, hooks)};
}

Status check_evaluation_columns(const Dataset& evaluated, const Schema& trained) {
  const std::string difference = difference_in_names(evaluated.format().schema(), trained);
  if (difference.empty()) return {};
  return fail(Code::kInvalid,
              "trainer.evaluate: " + evaluated.files().front().path +
                  " has other columns than the dataset: " + difference +
                  "; give its files the dataset's columns, or name the same ones in [columns]");
}

Status JobRun::open_quarantine() {
  const bool fresh = begin_.batches == 0;
  auto opened = Quarantine::open({.path = quarantine_path_,
                                  .allowed = job_.dataset.bad_rows,
                                  .already = begin_.bad_rows,
                                  .dataset = *dataset_},
                                 fresh ? Quarantine::Begin::kFresh : Quarantine::Begin::kResumed);
  if (!opened) return pass(opened);
  quarantine_ = std::move(*opened);
  return {};
}

// Damaged rows among the held-out rows were counted while the training rows were read.
Status JobRun::damaged(const std::vector<BadRow>& rows) {
  return quarantine_ ? quarantine_->add(rows) : Status{};
}

std::uint64_t JobRun::bytes_beside_buffers() const {
  return forebay::bytes_beside_buffers(job_, dataset_->is_remote());
}

Status JobRun::fits(std::uint64_t resident) const {
  auto memory = plan_memory(job_.pipeline, Sizing(*dataset_, *plan_, order_),
                            resident + bytes_beside_buffers());
  return memory ? Status{} : Status(pass(memory));
}

std::uint64_t JobRun::used_bytes() const {
  return (job_.run.owns_process ? resident_bytes() : accounted_bytes()) + plan_->child_bytes();
}

MemorySizes JobRun::sizes() const { return Sizing(*dataset_, *plan_, order_).sizes(); }

MostIds JobRun::most_ids() const { return Sizing(*dataset_, *plan_, order_).most_ids(); }

bool JobRun::chooses_groups() const {
  return job_.pipeline.fuse.how == FuseSpec::How::kAuto && job_.tuner.mode == "on";
}

StageGroups JobRun::groups() const {
  if (chooses_groups()) {
    return group_all(job_.stages, job_.transforms, dataset_->is_remote());
  }
  auto listed = listed_groups(job_.pipeline.fuse.groups, job_.stages);
  return listed ? *listed : StageGroups::apart();  // The job file was checked.
}

std::vector<std::uint32_t> JobRun::first_actors() const {
  const bool spread = job_.pipeline.fuse.how == FuseSpec::How::kAuto;
  return start_actors(groups(), job_.pipeline.actors, job_.pipeline.cpus, spread);
}

Status JobRun::start(std::uint64_t resident, std::uint64_t max_batches, const Sharing& sharing) {
  const Sizing sizing(*dataset_, *plan_, order_);
  resident += bytes_beside_buffers();
  auto memory = plan_memory(job_.pipeline, sizing, resident);
  if (!memory) return pass(memory);
  if (auto enough = check_threads(threads_wanted(job_, sharing), "this run"); !enough) {
    return enough;
  }
  if (rows_ != Rows::kHeldOut) {
    if (auto status = open_quarantine(); !status) return status;
  }
  memory_ = *memory;
  resident_ = resident;
  memory_in_use_ = std::make_shared<BufferMemory>(memory->room);
  memory_watch_ = std::make_unique<MemoryWatch>([this] { return accounted_bytes(); },
                                                [this] { return plan_->child_bytes(); });
  started_ = clock_.now();
  pipeline_ = std::make_unique<Pipeline>(Pipeline::Options{
      .dataset = *dataset_,
      .plan = *plan_,
      .order = order_,
      .actors = first_actors(),
      .memory = *memory,
      .decode = decode(),
      .start = begin_,
      .buffers = buffers(),
      .clock = clock_,
      .on_damaged = [this](const std::vector<BadRow>& rows) { return damaged(rows); },
      .on_batch = announce_,
      .dispatch = sharing.dispatch,
      .makes_splits = sharing.makes_splits,
      .groups = groups(),
      .share = share_,
      .lists_once = lists_once_,
      .counts = remaining_ ? &*remaining_ : nullptr,
      .batch_threads = batch_threads(job_.pipeline.cpus),
      .cpus = static_cast<double>(job_.pipeline.cpus)});
  source_ = std::make_unique<MeteredSource>(*pipeline_, clock_, begin_, max_batches);
  source_->tell_given(sharing.on_given);
  where_ = sharing.where;
  return {};
}

JobRun::~JobRun() { close(); }

void JobRun::close() {
  source_.reset();
  if (pipeline_ != nullptr) {
    pipeline_.reset();
    if (announce_) announce_(nullptr);
  }
  memory_in_use_.reset();
  quarantine_.reset();
}

void JobRun::stop() {
  source_->stop();
  pipeline_->stop();
}

}  // namespace forebay
