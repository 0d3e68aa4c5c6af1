#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/pool_context.h"
#include "core/runtime/pool_engine.h"
#include "core/runtime/pool_stats.h"

namespace forebay {

/// What a pool can carry: a value that can be moved and has a number.
template <class Message>
concept PoolMessage = std::movable<Message> && requires(const Message& message) {
  { message.key } -> std::convertible_to<std::uint64_t>;
};

template <PoolMessage Message>
struct PoolParcel final : Parcel {
  explicit PoolParcel(Message&& moved) : message(std::move(moved)) {}
  Message message;
};

/// What one actor of a pool does with a message: a stage's work for one split.
///
/// Owned by its actor: made, used and destroyed on the actor's own thread, so
/// it may keep buffers and needs no lock. A Status that is an error, or
/// anything thrown, is reported to the pool's `on_failure`; after a throw the
/// actor goes on with a fresh worker.
template <PoolMessage Message>
class PoolWorker : public ParcelWorker {
 public:
  virtual Status on(Message&& message, PoolContext& context) = 0;

 private:
  Status handle(Parcel& parcel, PoolContext& context) final {
    return on(std::move(static_cast<PoolParcel<Message>&>(parcel).message), context);
  }
};

/// One mailbox served by many actors, each with a thread of its own: what a
/// pipeline's stage is made of. Whichever actor is free takes the next message.
///
/// Owns its threads, its workers and what is queued. Every method may be called
/// from any thread at any time, an actor of this pool included, but `join` and
/// the destructor only from outside. The mailbox is bounded in bytes: an offer
/// beyond the bound waits; an empty mailbox takes one message of any size. Each
/// message accepted is given to exactly one worker, once, unless the pool is
/// cancelled; growing and shrinking happens between two messages and loses or
/// repeats none.
template <PoolMessage Message>
class StagePool final {
 public:
  struct Options {
    std::string name;               ///< Threads are called "name-number".
    std::size_t mailbox_bytes = 0;  ///< The bound of what is queued; 0 queues one at a time.
    PoolOrder order = PoolOrder::kArrival;
    std::size_t stack_bytes = 512 * 1024;  ///< Of each actor's thread.
    bool measures_service = false;  ///< Fills ActorTotals::done, a microsecond or two a message.

    /// Makes an actor's worker, on the actor's thread. When it throws the actor
    /// ends.
    std::function<std::unique_ptr<PoolWorker<Message>>()> factory;

    /// Called once for each failure, on the actor's thread, while the others go
    /// on.
    std::function<void(const Error&)> on_failure = {};

    /// Called once, on the last actor's thread (or the closer's when none
    /// lives), after `close` when everything accepted is done and every worker
    /// is gone. Not called when cancelled.
    std::function<void()> on_drained = {};
  };

  /// Starts no actor yet: call `grow`. `clock` outlives the pool.
  StagePool(Options options, const Clock& clock)
      : engine_({.name = std::move(options.name),
                 .mailbox_bytes = options.mailbox_bytes,
                 .order = options.order,
                 .stack_bytes = options.stack_bytes,
                 .measures_service = options.measures_service,
                 .factory = std::move(options.factory),
                 .on_failure = std::move(options.on_failure),
                 .on_drained = std::move(options.on_drained)},
                clock) {}

  /// Hands over a message of so many bytes, and waits until the mailbox has
  /// room for it. False, with `message` untouched, when the pool is closed or
  /// was closed meanwhile.
  bool offer(Message&& message, std::size_t bytes) { return offer(message, bytes, nullptr); }

  /// The same from a worker of another pool: the wait counts as its waiting for
  /// output.
  bool offer(Message&& message, std::size_t bytes, PoolContext& caller) {
    return offer(message, bytes, &caller);
  }

  /// The same without waiting: kOverloaded when there is no room, kUnavailable
  /// when closed, with `message` untouched.
  Status try_offer(Message&& message, std::size_t bytes) {
    PoolMail mail = pack(message, bytes);
    Status status = engine_.try_offer(mail);
    if (!status) unpack(mail, message);
    return status;
  }

  /// Starts more actors, or takes back the order to retire. Nothing once
  /// drained or cancelled.
  /// When the system has no thread left, that is one failure and the rest are not started.
  void grow(std::size_t count) { engine_.grow(count); }

  /// Tells so many actors to go (at most all): each finishes the message it
  /// holds first.
  void shrink(std::size_t count) { engine_.shrink(count); }

  /// Grows or shrinks to `target` actors, those that retire not counted.
  void resize(std::size_t target) { engine_.resize(target); }

  /// Moves the mailbox's bound. What is queued already stays, and only later offers are held back.
  void set_mailbox_bytes(std::size_t bytes) { engine_.set_mailbox_bytes(bytes); }

  /// Takes no more; the actors finish what is queued and end, then
  /// `on_drained`.
  void close() { engine_.close(); }

  /// Takes no more and drops what is queued; the actors end after the message
  /// they hold.
  void cancel() { engine_.cancel(); }

  /// Waits, after `close` or `cancel`, until every actor's thread has ended.
  /// From one thread outside the pool. The destructor cancels and joins.
  void join() { engine_.join(); }

  /// Threads alive, those that retire included.
  std::size_t actors() const { return engine_.actors(); }

  /// Of those, how many were told to go.
  std::size_t retiring() const { return engine_.retiring(); }

  /// Messages in the mailbox.
  std::size_t queued() const { return engine_.queued(); }

  /// The pool at this moment, running intervals included; a microsecond for
  /// tens of actors.
  PoolStats stats() const { return engine_.stats(); }

  const std::string& name() const { return engine_.name(); }

 private:
  static PoolMail pack(Message& message, std::size_t bytes) {
    const auto key = static_cast<std::uint64_t>(message.key);
    return {.parcel = std::make_unique<PoolParcel<Message>>(std::move(message)),
            .bytes = bytes,
            .key = key};
  }

  static void unpack(PoolMail& mail, Message& message) {
    message = std::move(static_cast<PoolParcel<Message>&>(*mail.parcel).message);
  }

  bool offer(Message& message, std::size_t bytes, PoolContext* caller) {
    PoolMail mail = pack(message, bytes);
    const bool accepted = engine_.offer(mail, caller);
    if (!accepted) unpack(mail, message);
    return accepted;
  }

  PoolEngine engine_;
};

}  // namespace forebay
