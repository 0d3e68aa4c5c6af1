#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <forebay/loader.h>

#include "core/base/result.h"
#include "core/base/thread/start_thread.h"
#include "core/runtime/synchronized.h"
#include "engine/job/job_spec.h"
#include "engine/loader/epoch_passes.h"
#include "engine/loader/held_batches.h"
#include "engine/process/stop_source.h"
#include "engine/session/session.h"

namespace forebay {

/// Owns the job and its session. Threads that the session starts belong to their own group, so that
/// `pipeline.cpus` sets the affinity of these threads only.
class Loader::Running {
 public:
  Running(JobSpec job, Options options) : job_(std::move(job)), options_(std::move(options)) {
    job_.run.owns_process = false;
    if (options_.by_epoch) job_.order.epochs = OrderSpec::kEndless;
  }
  ~Running() {
    if (session_) session_->end(closing_words());
  }

  static LoaderResult<Loader> opened(Result<JobSpec> job, Options options);
  LoaderStatus open();
  LoaderResult<std::optional<LoaderBatch>> next();
  bool wait(std::chrono::nanoseconds patience);
  void begin_epoch() { passes_.begin(); }
  LoaderStatus resume(const std::string& state);

  const LoaderSchema& schema() const { return schema_; }
  LoaderPosition position() const;
  std::string state() const { return to_json(session_->run().state(reached())); }
  LoaderEpoch epoch() const;
  LoaderStats stats() const;
  LoaderResult<std::string> set(const std::string& key, const std::string& value);
  void stop() { stop_.ask(SIGINT); }

 private:
  template <class Function>
  Status in_group(const Function& function);
  Status open_session();
  Status hold_session();
  Result<std::unique_ptr<Session>> session_in(const std::string& folder, const std::string& index);
  LoaderStatus begin();
  Status make_room();
  LoaderResult<std::optional<LoaderBatch>> next_batch();
  Result<std::shared_ptr<const Batch>> pull();
  LoaderBatch held(std::shared_ptr<const Batch> batch) const;
  void note_position();
  Position reached() const;
  std::string closing_words() const;

  JobSpec job_;
  const Options options_;
  StopSource stop_;
  const std::stop_callback<std::function<void()>> asked_{options_.stop, [this] { stop(); }};
  const std::shared_ptr<ThreadGroup> threads_ = std::make_shared<ThreadGroup>();
  std::unique_ptr<Session> session_;
  const std::shared_ptr<HeldBatches> held_ = std::make_shared<HeldBatches>();
  EpochPasses passes_;                       // by_epoch
  std::atomic<std::uint64_t> kept_rows_{0};  // of the batch that passes_ keeps
  bool has_no_batches_ = false;              // a stream of such epochs would never have one
  LoaderSchema schema_;
  std::atomic<bool> started_{false};
  std::atomic<std::int64_t> ended_ns_{0};  // by the run's clock; 0: still running
  bool finished_ = false;                  // every batch was returned
  std::optional<LoaderError> failed_;
  const Synchronized<> setting_;    // serializes set()
  const Synchronized<> positions_;  // guards the next one
  Position reached_;                // after the last batch that was returned
};

}  // namespace forebay
