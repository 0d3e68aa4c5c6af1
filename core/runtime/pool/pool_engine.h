#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/pool/actor_meter.h"
#include "core/runtime/pool/pool_mailbox.h"

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

/// The current state of one actor of a pool.
struct PoolActorView {
  std::uint32_t number = 0;  ///< As in its thread's name; never reused in this pool.
  ActorState state = ActorState::kIdle;
  std::chrono::nanoseconds since{0};  ///< Start of the state, by the pool's clock.
  std::uint64_t key = 0;              ///< Key of the current message, unless idle.
};

/// The state of a pool at one moment. A value.
struct PoolStats {
  std::size_t actors = 0;           ///< Threads alive, including retiring ones.
  std::size_t retiring = 0;         ///< Asked to retire; may be finishing a message.
  std::size_t queued_messages = 0;  ///< In the mailbox.
  std::size_t queued_bytes = 0;
  std::size_t mailbox_bytes = 0;   ///< The limit.
  std::size_t waiting_offers = 0;  ///< Threads that wait for space in the mailbox.
  std::uint64_t failures = 0;
  ActorTotals totals;               ///< Over all actors that ever lived in the pool.
  std::vector<PoolActorView> each;  ///< Each living actor.
};

/// A pool's worker without its message type; see PoolWorker.
class ParcelWorker {
 public:
  virtual ~ParcelWorker() = default;
  virtual Status handle(void* parcel, PoolContext& context) = 0;
};

/// The options of a pool whose actors are of the type `Worker`.
template <class Worker>
struct PoolOptions {
  std::string name;               ///< Threads are called "name-number".
  std::size_t mailbox_bytes = 0;  ///< Limit of the queued bytes; 0 queues one message at a time.
  PoolOrder order = PoolOrder::kArrival;
  std::size_t stack_bytes = 512 * 1024;  ///< Of each actor's thread.
  bool measures_service = false;         ///< Fills ActorTotals::done; costs 1 or 2 µs per message.

  /// Creates an actor's worker, on the actor's thread. If it throws, the actor ends.
  std::function<std::unique_ptr<Worker>()> factory;

  /// Called once for each failure, on the failed actor's thread, while the others continue.
  std::function<void(const Error&)> on_failure = {};

  /// Called once after `close`, when all accepted messages are done and every worker is destroyed:
  /// on the last actor's thread, or on the closer's thread if no actor lives. Not called after a
  /// cancel.
  std::function<void()> on_drained = {};
};

/// A StagePool without the type of its messages; StagePool documents the guarantees.
///
/// One mutex guards the mailbox and the list of actors and is held for tens of nanoseconds. Each
/// thread sleeps on its own Parker. The thread that wakes a sleeper first takes it off the list of
/// sleepers, then releases the mutex, then unparks it. No actor falls asleep while mail is queued,
/// each new mail wakes one sleeper, and a request to retire n actors wakes n. So when actors
/// retire, an awake actor remains for the queued mail; the last one serves it first.
class PoolEngine {
 public:
  using Options = PoolOptions<ParcelWorker>;

  PoolEngine(Options options, const Clock& clock);
  ~PoolEngine();
  PoolEngine(const PoolEngine&) = delete;
  PoolEngine& operator=(const PoolEngine&) = delete;

  /// Revokes pending retirements, then starts more actors, `count` in total. Does nothing once the
  /// pool is drained or cancelled. If the system has no thread left, reports one failure and starts
  /// no more.
  void grow(std::size_t count);

  /// Grows, or retires actors, to `target` actors, not counting retiring ones: each first finishes
  /// its current message. With a target of 0 the last one goes when the mailbox is empty, and a
  /// message that is offered later has an actor started, which goes in the same way.
  void resize(std::size_t target);

  /// Changes the mailbox's limit. Queued messages stay; the limit applies to later offers.
  void set_mailbox_bytes(std::size_t bytes);

  /// Refuses further messages. The actors finish the queued ones and end; then the pool calls
  /// `on_drained`.
  void close();

  /// Refuses further messages and drops the queued ones. The actors end after their current
  /// message.
  void cancel();

  /// Blocks, after `close` or `cancel`, until every actor's thread has ended. Call it from one
  /// thread outside the pool. The destructor cancels and joins.
  void join();

  /// Threads alive, including retiring ones.
  std::size_t actors() const;

  /// Actors asked to retire that are still alive.
  std::size_t retiring() const;

  /// Messages in the mailbox.
  std::size_t queued() const;

  /// The state of the pool now, including running intervals; takes 1 µs for tens of actors.
  PoolStats stats() const;

  const std::string& name() const { return options_.name; }

 protected:
  /// Returns false, and leaves the parcel in `mail`, if the pool is closed. `caller` may be null.
  bool offer(PoolMail& mail, PoolContext* caller);
  Status try_offer(PoolMail& mail);

 private:
  struct Actor;
  enum class Stop { kDrain, kDrop };

  void run(Actor& self);
  [[nodiscard]] bool make_worker(std::unique_ptr<ParcelWorker>& worker);
  [[nodiscard]] bool next_mail(Actor& self, PoolMail& mail);
  void work(Actor& self, PoolMail& mail, std::unique_ptr<ParcelWorker>& worker);
  void report(const Error& error);
  void leave(Actor& self);
  void stop(Stop how);
  void tell_drained_once();

  // The methods below require mutex_.
  std::optional<Error> grow_locked(std::size_t count);
  std::vector<Actor*> shrink_locked(std::size_t count);
  std::size_t serving_locked() const { return actors_.size() - leaving_; }
  std::size_t staying_locked() const { return serving_locked() - retiring_; }
  void begin_leaving();
  bool push(std::unique_lock<std::mutex>& lock, PoolMail& mail);  // may release the lock
  static ActorTotals totals_of(const Actor& actor, const ActorMeter::Reading& reading);

  const Options options_;
  const Clock& clock_;
  std::atomic<bool> cancelled_{false};  // written under mutex_

  mutable std::mutex mutex_;
  std::condition_variable left_;  // an actor left; under mutex_, as all below
  PoolMailbox mailbox_;
  std::vector<std::unique_ptr<Actor>> actors_;  // alive
  std::unique_ptr<Actor> last_left_;            // its thread is ending; not joined yet
  std::vector<Actor*> sleepers_;                // the most recently used last
  std::size_t retiring_ = 0;                    // requested retirements, not yet taken by an actor
  std::size_t leaving_ = 0;                     // actors that are ending
  bool on_demand_ = false;                      // resized to 0: actors live while mail is queued
  std::uint32_t num_started_ = 0;
  std::uint64_t failures_ = 0;
  ActorTotals left_totals_;
  bool closed_ = false;
  bool told_drained_ = false;
};

}  // namespace forebay
