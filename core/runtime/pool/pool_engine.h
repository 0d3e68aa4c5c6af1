#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/pool/pool_context.h"
#include "core/runtime/pool/pool_mailbox.h"
#include "core/runtime/pool/pool_stats.h"

namespace forebay {

/// A pool's worker without its message type; see PoolWorker.
class ParcelWorker {
 public:
  virtual ~ParcelWorker() = default;
  virtual Status handle(Parcel& parcel, PoolContext& context) = 0;
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
/// retire, an awake actor remains for the queued mail.
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

  /// Retires `count` actors (at most all): each first finishes its current message.
  void shrink(std::size_t count);

  /// Grows or shrinks to `target` actors, not counting retiring ones.
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
  std::size_t staying_locked() const { return actors_.size() - retiring_ - leaving_; }
  void begin_leaving();
  Actor* pop_sleeper();
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
  std::uint32_t num_started_ = 0;
  std::uint64_t failures_ = 0;
  ActorTotals left_totals_;
  bool closed_ = false;
  bool told_drained_ = false;
};

}  // namespace forebay
