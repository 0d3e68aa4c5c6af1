#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "actors/pipeline.h"
#include "core/base/clock.h"
#include "core/data/batch.h"

namespace forebay {

/// The trainer's batch source: the pipeline, with counts of the batches and of the time that the
/// trainer waited for them.
///
/// Ends the stream after `max_batches` or once the pipeline was stopped. next() belongs to one
/// thread; the counts may be read on any.
class MeteredSource final : public BatchSource {
 public:
  MeteredSource(Pipeline& pipeline, const Clock& clock, Position start, std::uint64_t max_batches)
      : pipeline_(pipeline),
        clock_(clock),
        position_(std::move(start)),
        max_batches_(max_batches) {}

  Result<std::shared_ptr<const Batch>> next() override;

  /// Blocks until next() would not block, at most for `most`; counts as waiting. Returns whether it
  /// would not. On the thread of next(). From the return on, the trainer is taken to be busy.
  [[nodiscard]] bool wait(std::chrono::nanoseconds most);

  /// Returns how far the run has got. On the thread of next() only.
  const Position& position() const { return position_; }
  /// Returns whether the pipeline has delivered its last batch.
  bool reached_end() const { return reached_end_; }

  std::uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  std::uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  /// Includes the current wait.
  std::chrono::nanoseconds waited() const;
  /// Returns whether the trainer is processing a batch instead of waiting for one.
  bool trainer_is_busy() const { return busy_.load(std::memory_order_relaxed); }
  /// Batches that the trainer has finished, and the time they took without pauses.
  std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds worked() const {
    return std::chrono::nanoseconds(worked_ns_.load(std::memory_order_relaxed));
  }
  /// Includes the current pause.
  std::chrono::nanoseconds paused() const;

  /// While an object of this class lives, the trainer does something other than training: writes a
  /// checkpoint, scores rows held out. On the thread of next().
  class Pause {
   public:
    explicit Pause(MeteredSource& source) : source_(source) { source_.begin_pause(); }
    ~Pause() { source_.end_pause(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    MeteredSource& source_;
  };

  /// Records progress while the trainer does not train, such as an evaluated batch. Any thread.
  void note_beside() { beside_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t beside() const { return beside_.load(std::memory_order_relaxed); }

  /// Calls `on_given` with each position after its batch was given to the trainer, on the thread of
  /// next(). Set it before the first batch.
  void tell_given(std::function<void(const Position&)> on_given) {
    on_given_ = std::move(on_given);
  }

  /// Makes next() end the stream; Pipeline::stop() wakes a thread that waits in next().
  void stop() { stopped_.store(true, std::memory_order_relaxed); }

 private:
  void begin_pause();
  void end_pause();
  void begin_wait();
  std::chrono::nanoseconds end_wait();
  void finish_step(std::chrono::nanoseconds now);

  Pipeline& pipeline_;
  const Clock& clock_;
  Position position_;
  std::function<void(const Position&)> on_given_;
  const std::uint64_t max_batches_;
  bool reached_end_ = false;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> busy_{false};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> beside_{0};
  std::atomic<std::int64_t> waited_ns_{0};
  // When the current batch was given, plus the pauses since.
  std::optional<std::chrono::nanoseconds> given_;
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::int64_t> worked_ns_{0};
  std::atomic<std::int64_t> paused_ns_{0};
  std::atomic<std::int64_t> pause_began_ns_{0};  // when the current pause began; 0: no pause
  std::atomic<std::int64_t> asked_ns_{0};        // when the current wait began; 0: no wait
};

}  // namespace forebay
