#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/clock.h"
#include "core/runtime/pool/actor_meter.h"
#include "core/runtime/pool/service_meter.h"

namespace forebay {

/// The services that a pool's actor offers to its worker. Lives as long as the actor; used on the
/// actor's thread only.
class PoolContext {
 public:
  /// While it exists, time counts as waiting for output instead of as work.
  class OutputWait {
   public:
    explicit OutputWait(PoolContext& context) : context_(context) {
      const auto now = context_.clock_.now();
      context_.meter_.enter(ActorState::kWaitingOutput, now);
      if (context_.service_ != nullptr) context_.service_->pause(now);
    }
    ~OutputWait() {
      const auto now = context_.clock_.now();
      if (context_.service_ != nullptr) context_.service_->resume(now);
      context_.meter_.enter(ActorState::kBusy, now);
    }
    OutputWait(const OutputWait&) = delete;
    OutputWait& operator=(const OutputWait&) = delete;

   private:
    PoolContext& context_;
  };

  PoolContext(std::uint32_t actor, const std::atomic<bool>& cancelled, ActorMeter& meter,
              const Clock& clock)
      : actor_(actor), cancelled_(cancelled), meter_(meter), clock_(clock) {}
  PoolContext(const PoolContext&) = delete;
  PoolContext& operator=(const PoolContext&) = delete;

  /// Measures the cost of messages from now on; `service` must live as long as messages arrive.
  void measure_with(ServiceMeter& service) { service_ = &service; }
  ServiceMeter* service() const { return service_; }

  /// The actor's number, which is also in its thread's name.
  std::uint32_t actor() const { return actor_; }

  /// Whether the pool was cancelled: results made from now on will be dropped.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  const std::uint32_t actor_;
  const std::atomic<bool>& cancelled_;
  ActorMeter& meter_;
  const Clock& clock_;
  ServiceMeter* service_ = nullptr;  // null: not measured
};

}  // namespace forebay
