#include "engine/loader/running_loader.h"

#include <algorithm>
#include <exception>

#include "engine/job/quantity.h"
#include "engine/loader/loader_error.h"
#include "engine/process/run_dir.h"

namespace forebay {
namespace {

/// Loaders that may share a job's folder.
constexpr int kMostBeside = 1000;

LoaderSchema schema_of(const Schema& schema) {
  LoaderSchema shown;
  shown.dense = schema.dense;
  for (const SparseFeature& feature : schema.sparse) shown.sparse.push_back(feature.name);
  shown.weight = schema.weight;
  for (const ExtraColumn& extra : schema.extra) {
    shown.extra.push_back({extra.name, extra.kind == ExtraColumn::Kind::kFloat64});
  }
  return shown;
}

}  // namespace

LoaderResult<Loader> Loader::Running::opened(Result<JobSpec> job, Options options) {
  if (!job) return opening_error(job.error());
  if (options.rank >= options.ranks) {
    return LoaderError{.code = LoaderError::Code::kConfig,
                       .message = "rank " + std::to_string(options.rank) + " of " +
                                  std::to_string(options.ranks) +
                                  " ranks: the first one is 0, the last one less than their number",
                       .key = ""};
  }
  auto running = std::make_unique<Running>(std::move(*job), std::move(options));
  if (auto status = running->open(); !status) return status.error();
  return Loader(std::move(running));
}

/// Runs `function` on a thread of the loader's group: threads that it starts inherit the group's
/// affinity, and the affinity of the calling thread, which belongs to the program, stays unchanged.
template <class Function>
Status Loader::Running::in_group(const Function& function) {
  Status status;
  std::exception_ptr thrown;
  start_thread("a loader", [&] {
    const ThreadGroup::Member member(threads_);
    try {
      status = function();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
  return status;
}

Result<std::unique_ptr<Session>> Loader::Running::session_in(const std::string& folder,
                                                             const std::string& index) {
  job_.run.dir = folder;
  return Session::open(job_, {.command = "loader",
                              .events = {.say = options_.on_message, .stop = &stop_},
                              .threads = threads_,
                              .index_of = index,
                              .share = {options_.rank, options_.ranks}});
}

// Only a folder that another run holds leads to the next one; what else a session refuses, it would
// refuse there, too.
Status Loader::Running::hold_session() {
  const std::string folder = job_.run.dir;
  auto session = session_in(folder, "");
  for (int number = 1; !session && options_.share_run_dir && number < kMostBeside; ++number) {
    if (session.error().code != Code::kUnavailable || RunDir::hold(job_.run.dir)) break;
    session = session_in(folder + "/beside/" + std::to_string(number), folder);
  }
  if (!session) return pass(session);
  session_ = std::move(*session);
  return {};
}

Status Loader::Running::open_session() {
  if (auto held = hold_session(); !held) return held;
  if (auto opened = session_->open_run(); !opened) return opened;
  if (!options_.resume.empty()) {
    if (auto resumed = resume(options_.resume); !resumed) {
      return fail(Code::kInvalid, resumed.error().message);
    }
  }
  return session_->run().fits(0);
}

LoaderStatus Loader::Running::resume(const std::string& state) {
  if (started_) {
    return LoaderError{.code = LoaderError::Code::kConfig,
                       .message = "the loader has begun; give the state to a loader that has not",
                       .key = ""};
  }
  const std::string where = "the state to resume";
  auto saved = parse_loader_state(state, where);
  if (!saved) return opening_error({Code::kInvalid, saved.error().message});
  if (auto resumed = session_->resume(*saved, where); !resumed) {
    return opening_error({Code::kInvalid, resumed.error().message});
  }
  note_position();
  return std::monostate();
}

LoaderStatus Loader::Running::open() {
  const Status opened = in_group([this] { return open_session(); });
  if (!opened) return opening_error(opened.error());
  schema_ = schema_of(session_->run().schema());
  return std::monostate();
}

Result<std::shared_ptr<const Batch>> Loader::Running::pull() {
  auto batch = session_->run().source().next();
  if (batch && *batch != nullptr) return batch;
  ended_ns_ = session_->run().clock().now().count();
  finished_ = batch.has_value() && session_->run().source().reached_end();
  return batch;
}

LoaderStatus Loader::Running::begin() {
  if (failed_) return *failed_;
  if (started_) return std::monostate();
  const Status started = in_group([this] { return session_->start(0, options_.max_batches); });
  if (!started) return failed_.emplace(opening_error(started.error()));
  has_no_batches_ = epoch().batches == 0;
  started_ = true;
  return std::monostate();
}

LoaderResult<std::optional<LoaderBatch>> Loader::Running::next() {
  if (auto begun = begin(); !begun) return begun.error();
  if (options_.by_epoch && (passes_.at_end() || has_no_batches_)) {
    passes_.begin();
    return std::optional<LoaderBatch>();
  }
  auto batch = next_batch();
  kept_rows_ = passes_.kept_rows();
  note_position();
  return batch;
}

bool Loader::Running::wait(std::chrono::nanoseconds patience) {
  if (!begin() || ended_ns_ != 0) return true;
  if (options_.by_epoch && (passes_.at_end() || passes_.has_kept() || has_no_batches_)) {
    return true;
  }
  return session_->run().source().wait(patience);
}

LoaderResult<std::optional<LoaderBatch>> Loader::Running::next_batch() {
  if (auto kept = passes_.take_kept()) {
    passes_.add(kept);
    return std::optional(held(std::move(kept)));
  }
  if (ended_ns_ != 0) return std::optional<LoaderBatch>();
  if (auto room = make_room(); !room) return opening_error(room.error());
  auto batch = pull();
  if (!batch) return failed_.emplace(stream_error(batch.error()));
  if (*batch == nullptr) return std::optional<LoaderBatch>();
  if (options_.by_epoch && !passes_.add(*batch)) {
    passes_.begin();
    return std::optional<LoaderBatch>();
  }
  return std::optional(held(std::move(*batch)));
}

LoaderBatch Loader::Running::held(std::shared_ptr<const Batch> batch) const {
  return LoaderBatch(HeldBatches::hold(held_, session_->run().buffer_memory(), std::move(batch)));
}

// A program that holds batches is taken to hold the next one, too: the pipeline fills the place of
// that one before this is called again.
Status Loader::Running::make_room() {
  const std::uint64_t held = held_->bytes();
  const std::uint64_t next = session_->run().pipeline().sizes().batch;
  if (session_->tuning().set_held(held > 0 ? held + next : 0)) return {};
  return fail(Code::kInvalid,
              "pipeline.memory: the program holds " + std::to_string(held_->count()) +
                  " batches of " + format_size(held) + ", and " +
                  format_size(session_->tuning().memory()) +
                  " have no room for more; release batches before the next, or raise it");
}

// A batch that is kept for the next pass has not been returned: the pass ended before its epoch.
void Loader::Running::note_position() {
  const JobRun& run = session_->run();
  const Position now = started_ ? run.source().position() : run.begin();
  positions_([&] { reached_ = passes_.has_kept() ? passes_.end_of_pass(reached_) : now; });
}

Position Loader::Running::reached() const {
  return positions_([this] { return reached_; });
}

// Every row of a damaged file's epochs is known once an epoch has been read to its end.
LoaderEpoch Loader::Running::epoch() const {
  const Position now = reached();
  const bool is_counted = now.epoch > 0;
  const JobRun& run = session_->run();
  const auto remaining = run.rows_remaining();
  std::uint64_t rows = remaining.value_or(run.dataset().rows());
  if (!remaining && is_counted) rows -= std::min(rows, now.counted());
  const std::uint64_t whole = rows / job_.order.batch_size;
  const bool has_rest = rows % job_.order.batch_size != 0 && !job_.order.drop_last;
  return {.batches = whole + (has_rest ? 1 : 0), .exact = is_counted || remaining.has_value()};
}

// Workers whose trainer reads epochs without an end have done their job when it has enough of them.
std::string Loader::Running::closing_words() const {
  if (failed_) return failed_->message;
  return finished_ || options_.by_epoch ? "" : "the loader was closed";
}

LoaderPosition Loader::Running::position() const {
  const Position now = reached();
  return {.epochs = now.epoch,
          .batches = now.batches,
          .rows = now.rows,
          .bad_rows = now.bad_rows,
          .order_digest = now.digest.hex(),
          .of_ranks = now.of_ranks};
}

LoaderStats Loader::Running::stats() const {
  LoaderStats stats;
  if (!started_) return stats;
  const RunFigures now = session_->figures();
  const JobRun& run = session_->run();
  const std::int64_t ended = ended_ns_;
  const auto elapsed = ended == 0 ? now.elapsed : std::chrono::nanoseconds(ended) - run.started();
  const std::uint64_t kept = kept_rows_;
  stats.rows = now.rows - std::min(now.rows, kept);
  stats.batches = now.batches - (kept > 0 ? 1 : 0);
  stats.seconds = in_seconds(elapsed);
  if (stats.seconds > 0) {
    stats.starved_ratio = std::min(1.0, in_seconds(now.waited) / stats.seconds);
  }
  stats.memory_bytes = now.memory_bytes;
  stats.memory_limit = now.memory_limit;
  stats.requests = run.io_counts().requests();
  stats.bytes_read = run.io_counts().bytes();
  stats.decisions = now.decisions;
  for (const StageStats& stage : now.pipeline.stages) {
    stats.stages.push_back({.name = stage.name,
                            .actors = stage.pool.actors,
                            .splits = stage.pool.totals.messages,
                            .busy_seconds = in_seconds(stage.pool.totals.busy)});
  }
  return stats;
}

LoaderResult<std::string> Loader::Running::set(const std::string& key, const std::string& value) {
  if (!started_) {
    return LoaderError{.code = LoaderError::Code::kConfig,
                       .message = key + ": the loader has not begun; give it in Options::set",
                       .key = key};
  }
  auto done = setting_([&] { return session_->tuning().set(key, value); });
  if (!done) return opening_error(done.error());
  return std::move(*done);
}

}  // namespace forebay
