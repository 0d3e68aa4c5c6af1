#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

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
  /// Tells next() to end the stream; whoever waits in it is woken by Pipeline::stop().
  void stop() { stopped_.store(true, std::memory_order_relaxed); }

 private:
  Pipeline& pipeline_;
  const Clock& clock_;
  Position position_;
  const std::uint64_t max_batches_;
  bool reached_end_ = false;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> busy_{false};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::int64_t> waited_ns_{0};
  std::atomic<std::int64_t> asked_ns_{0};  // when the wait that is going on began; 0: none
};

}  // namespace forebay
