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

/// What the trainer pulls from: the pipeline, with a count of what came and how long it waited.
///
/// Ends the stream early after `max_batches` or once the pipeline was stopped. next() belongs to
/// one thread; the counts may be read from any.
class MeteredSource final : public BatchSource {
 public:
  MeteredSource(Pipeline& pipeline, const Clock& clock, Position start, std::uint64_t max_batches)
      : pipeline_(pipeline),
        clock_(clock),
        position_(std::move(start)),
        max_batches_(max_batches) {}

  Result<std::shared_ptr<const Batch>> next() override;

  /// The truth about how far the run has got. The caller of next() only.
  const Position& position() const { return position_; }
  /// Whether the pipeline gave everything it had.
  bool reached_end() const { return reached_end_; }

  std::uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  std::uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  /// The wait that is going on included.
  std::chrono::nanoseconds waited() const;
  /// Whether the trainer has a batch in hand instead of waiting for one.
  bool trainer_is_busy() const { return busy_.load(std::memory_order_relaxed); }
  /// Batches the trainer is done with, and the time it took over them, pauses left out.
  std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds worked() const {
    return std::chrono::nanoseconds(worked_ns_.load(std::memory_order_relaxed));
  }
  /// Pauses, the one that is going on included.
  std::chrono::nanoseconds paused() const;

  /// As long as it lives the trainer does something else than train: writes a checkpoint, scores
  /// rows held out. On the thread of next().
  class Pause {
   public:
    explicit Pause(MeteredSource& source) : source_(source) { source_.begin_pause(); }
    ~Pause() { source_.end_pause(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    MeteredSource& source_;
  };

  /// Something moved while the trainer does not train: a batch that was evaluated. From any thread.
  void note_beside() { beside_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t beside() const { return beside_.load(std::memory_order_relaxed); }

  /// Has each position told after its batch was given to the trainer, on the thread of next().
  /// Before the first.
  void tell_given(std::function<void(const Position&)> on_given) {
    on_given_ = std::move(on_given);
  }

  /// Tells next() to end the stream; whoever waits in it is woken by Pipeline::stop().
  void stop() { stopped_.store(true, std::memory_order_relaxed); }

 private:
  void begin_pause();
  void end_pause();
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
  std::optional<std::chrono::nanoseconds> given_;  // when the batch in hand was, later by pauses
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::int64_t> worked_ns_{0};
  std::atomic<std::int64_t> paused_ns_{0};
  std::atomic<std::int64_t> pause_began_ns_{0};  // of the pause that is going on; 0: none
  std::atomic<std::int64_t> asked_ns_{0};        // when the wait that is going on began; 0: none
};

}  // namespace forebay
