#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <numeric>
#include <type_traits>

#include <forebay/loader.h>

#include "core/base/clock.h"
#include "core/base/thread/start_thread.h"
#include "core/data/batch.h"
#include "core/runtime/synchronized.h"
#include "engine/job/job_file.h"
#include "engine/job/quantity.h"
#include "engine/loader/loader_error.h"
#include "engine/process/machine.h"
#include "engine/session/session.h"

namespace forebay {

/// The batches of a loader that the program holds.
struct HeldBatches {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> bytes{0};
};

namespace {

/// A loader without a memory setting takes one part in so many of the available memory; the program
/// around it needs the rest.
constexpr std::uint64_t kUsualShare = 4;

JobDefaults defaults_here() {
  return {.cpus = available_cpus(), .memory_bytes = available_memory() / kUsualShare};
}

/// A batch that the program holds and the memory that it refers to; the batch is destroyed first.
class HeldBatch {
 public:
  HeldBatch(std::shared_ptr<HeldBatches> all, std::shared_ptr<const void> memory,
            std::shared_ptr<const Batch> batch)
      : all_(std::move(all)), memory_(std::move(memory)), batch_(std::move(batch)) {
    ++all_->count;
    all_->bytes += batch_->bytes();
  }
  ~HeldBatch() {
    --all_->count;
    all_->bytes -= batch_->bytes();
  }
  HeldBatch(const HeldBatch&) = delete;
  HeldBatch& operator=(const HeldBatch&) = delete;

  const Batch* batch() const { return batch_.get(); }

 private:
  const std::shared_ptr<HeldBatches> all_;
  const std::shared_ptr<const void> memory_;
  const std::shared_ptr<const Batch> batch_;
};

LoaderSchema schema_of(const Schema& schema) {
  LoaderSchema shown;
  shown.dense = schema.dense;
  for (const SparseFeature& feature : schema.sparse) shown.sparse.push_back(feature.name);
  return shown;
}

/// Translates an exception of a library (no memory, no thread) into an error for the caller.
template <class Function>
auto caught(const Function& function) -> std::invoke_result_t<Function> {
  try {
    return function();
  } catch (const std::exception& thrown) {
    return LoaderError{LoaderError::Code::kUnavailable, thrown.what(), ""};
  }
}

}  // namespace

/// Owns the job and its session. Threads that the session starts belong to their own group, so that
/// `pipeline.cpus` sets the affinity of these threads only.
class Loader::Running {
 public:
  Running(JobSpec job, Options options) : job_(std::move(job)), options_(std::move(options)) {
    job_.run.owns_process = false;
  }
  ~Running() {
    if (session_) session_->end(finished_ ? "" : "the loader was closed");
  }

  static LoaderResult<Loader> opened(Result<JobSpec> job, Options options);
  LoaderStatus open();
  LoaderResult<std::optional<LoaderBatch>> next();

  const LoaderSchema& schema() const { return schema_; }
  LoaderPosition position() const;
  std::string state() const { return to_json(session_->run().state(reached())); }
  LoaderStats stats() const;
  LoaderResult<std::string> set(const std::string& key, const std::string& value);
  void stop() { stop_.ask(SIGINT); }

 private:
  template <class Function>
  Status in_group(const Function& function);
  Status open_session();
  Status make_room();
  Result<std::shared_ptr<const Batch>> pull();
  const Position& reached() const;

  JobSpec job_;
  const Options options_;
  StopSource stop_;
  const std::shared_ptr<ThreadGroup> threads_ = std::make_shared<ThreadGroup>();
  std::unique_ptr<Session> session_;
  const std::shared_ptr<HeldBatches> held_ = std::make_shared<HeldBatches>();
  LoaderSchema schema_;
  std::atomic<bool> started_{false};
  std::atomic<std::int64_t> ended_ns_{0};  // by the run's clock; 0: still running
  bool finished_ = false;                  // every batch was returned
  std::optional<LoaderError> failed_;
  const Synchronized<> setting_;  // serializes set()
};

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

Status Loader::Running::open_session() {
  auto session = Session::open(job_, {.command = "loader",
                                      .events = {.say = options_.on_message, .stop = &stop_},
                                      .threads = threads_});
  if (!session) return pass(session);
  session_ = std::move(*session);
  if (auto opened = session_->open_run(); !opened) return opened;
  if (!options_.resume.empty()) {
    const std::string where = "the state to resume";
    auto saved = parse_loader_state(options_.resume, where);
    if (!saved) return fail(Code::kInvalid, saved.error().message);
    if (auto resumed = session_->resume(*saved, where); !resumed) {
      return fail(Code::kInvalid, resumed.error().message);
    }
  }
  return session_->run().fits(0);
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

LoaderResult<std::optional<LoaderBatch>> Loader::Running::next() {
  if (failed_) return *failed_;
  if (!started_) {
    const Status started = in_group([this] { return session_->start(0, options_.max_batches); });
    if (!started) return failed_.emplace(opening_error(started.error()));
    started_ = true;
  }
  if (ended_ns_ != 0) return std::optional<LoaderBatch>();
  if (auto room = make_room(); !room) return opening_error(room.error());
  auto batch = pull();
  if (!batch) return failed_.emplace(stream_error(batch.error()));
  if (*batch == nullptr) return std::optional<LoaderBatch>();
  auto given = std::make_shared<const HeldBatch>(held_, session_->run().buffer_memory(), *batch);
  const Batch* const shown = given->batch();
  return std::optional(LoaderBatch(std::shared_ptr<const Batch>(std::move(given), shown)));
}

// A program that holds batches is taken to hold the next one, too: the pipeline fills the place of
// that one before this is called again.
Status Loader::Running::make_room() {
  const std::uint64_t held = held_->bytes;
  const std::uint64_t next = session_->run().pipeline().sizes().batch;
  if (session_->tuning().set_held(held > 0 ? held + next : 0)) return {};
  return fail(Code::kInvalid,
              "pipeline.memory: the program holds " + std::to_string(held_->count) +
                  " batches of " + format_size(held) + ", and " +
                  format_size(session_->tuning().memory()) +
                  " have no room for more; release batches before the next, or raise it");
}

const Position& Loader::Running::reached() const {
  return started_ ? session_->run().source().position() : session_->run().begin();
}

LoaderPosition Loader::Running::position() const {
  const Position& now = reached();
  return {.epochs = now.epoch,
          .batches = now.batches,
          .rows = now.rows,
          .bad_rows = now.bad_rows,
          .order_digest = now.digest.hex()};
}

LoaderStats Loader::Running::stats() const {
  LoaderStats stats;
  if (!started_) return stats;
  const RunFigures now = session_->figures();
  const JobRun& run = session_->run();
  const std::int64_t ended = ended_ns_;
  const auto elapsed = ended == 0 ? now.elapsed : std::chrono::nanoseconds(ended) - run.started();
  stats.rows = now.rows;
  stats.batches = now.batches;
  stats.seconds = in_seconds(elapsed);
  if (stats.seconds > 0) {
    stats.starved_ratio = std::min(1.0, in_seconds(now.waited) / stats.seconds);
  }
  stats.memory_bytes = now.memory_bytes;
  stats.memory_limit = now.memory_limit;
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

std::uint64_t LoaderBatch::index() const { return batch_->number; }
std::size_t LoaderBatch::rows() const { return batch_->rows; }
std::span<const float> LoaderBatch::labels() const { return {batch_->labels, batch_->rows}; }

std::span<const float> LoaderBatch::dense() const {
  return {batch_->dense, batch_->rows * batch_->dense_features};
}

std::span<const std::int32_t> LoaderBatch::lengths() const {
  return {batch_->lengths, batch_->rows * batch_->sparse_features};
}

std::span<const std::int64_t> LoaderBatch::values() const { return {batch_->ids, batch_->num_ids}; }

LoaderBatch::Column LoaderBatch::sparse(std::size_t column) const {
  const auto all = lengths();
  const auto sum = [](std::span<const std::int32_t> some) {
    return std::accumulate(some.begin(), some.end(), std::size_t{0});
  };
  const auto own = all.subspan(column * rows(), rows());
  return {.lengths = own, .values = values().subspan(sum(all.first(column * rows())), sum(own))};
}

Loader::Loader(std::unique_ptr<Running> running) : running_(std::move(running)) {}

LoaderResult<Loader> Loader::Running::opened(Result<JobSpec> job, Options options) {
  if (!job) return opening_error(job.error());
  auto running = std::make_unique<Running>(std::move(*job), std::move(options));
  if (auto status = running->open(); !status) return status.error();
  return Loader(std::move(running));
}

Loader::Loader(Loader&& other) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept = default;
Loader::~Loader() = default;

LoaderResult<Loader> Loader::open(const std::string& path, Options options) {
  return caught([&]() -> LoaderResult<Loader> {
    auto job = load_job(path, options.set, defaults_here());
    return Running::opened(std::move(job), std::move(options));
  });
}

LoaderResult<Loader> Loader::open(const Job& job, Options options) {
  return caught([&]() -> LoaderResult<Loader> {
    const JobValues values{job.values, job.transforms, job.folder};
    auto spec = read_values(values, options.set, defaults_here());
    return Running::opened(std::move(spec), std::move(options));
  });
}

const LoaderSchema& Loader::schema() const { return running_->schema(); }

LoaderResult<std::optional<LoaderBatch>> Loader::next() {
  return caught([this] { return running_->next(); });
}

LoaderPosition Loader::position() const { return running_->position(); }
std::string Loader::state() const { return running_->state(); }
LoaderStats Loader::stats() const { return running_->stats(); }

LoaderResult<std::string> Loader::set(const std::string& key, const std::string& value) {
  return caught([&] { return running_->set(key, value); });
}

void Loader::stop() { running_->stop(); }

}  // namespace forebay
