#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/pool/pool_engine.h"

namespace forebay {

/// The messages of a pool: movable values with a numeric key.
template <class Message>
concept PoolMessage = std::movable<Message> && requires(const Message& message) {
  { message.key } -> std::convertible_to<std::uint64_t>;
};

/// Handles the messages of one actor of a pool: a stage's work for one split.
///
/// Owned by its actor: created, used and destroyed on the actor's own thread, so it may keep
/// buffers and needs no lock. The pool reports a returned error or an exception to its
/// `on_failure`; after an exception the actor continues with a new worker.
template <PoolMessage Message>
class PoolWorker : public ParcelWorker {
 public:
  virtual Status on(Message&& message, PoolContext& context) = 0;

 private:
  Status handle(void* parcel, PoolContext& context) final {
    return on(std::move(*static_cast<Message*>(parcel)), context);
  }
};

/// One mailbox served by many actors, each with its own thread; it implements a pipeline stage. The
/// next free actor takes the next message.
///
/// Owns its threads, its workers and the queued messages. Any thread may call every method at any
/// time, also an actor of this pool; only `join` and the destructor must be called from outside.
/// The mailbox is bounded in bytes: an offer beyond the limit waits; an empty mailbox accepts one
/// message of any size. Each accepted message is given to exactly one worker, once, unless the pool
/// is cancelled; growing and shrinking happen between two messages and neither lose nor repeat one.
template <PoolMessage Message>
class StagePool final : public PoolEngine {
 public:
  using Options = PoolOptions<PoolWorker<Message>>;

  /// Starts no actors yet: call `grow`. `clock` must outlive the pool.
  StagePool(Options options, const Clock& clock)
      : PoolEngine({.name = std::move(options.name),
                    .mailbox_bytes = options.mailbox_bytes,
                    .order = options.order,
                    .stack_bytes = options.stack_bytes,
                    .measures_service = options.measures_service,
                    .factory = std::move(options.factory),
                    .on_failure = std::move(options.on_failure),
                    .on_drained = std::move(options.on_drained)},
                   clock) {}

  /// Hands over a message of `bytes` bytes; blocks until the mailbox has space for it. Returns
  /// false, and leaves `message` unchanged, if the pool is closed or is closed meanwhile.
  bool offer(Message&& message, std::size_t bytes) { return offer(message, bytes, nullptr); }

  /// Offers from a worker of another pool: counts the time it blocks as that worker's waiting for
  /// output.
  bool offer(Message&& message, std::size_t bytes, PoolContext& caller) {
    return offer(message, bytes, &caller);
  }

  /// Offers without waiting: kOverloaded if there is no space, kUnavailable if the pool is closed;
  /// both leave `message` unchanged.
  Status try_offer(Message&& message, std::size_t bytes) {
    PoolMail mail = pack(message, bytes);
    Status status = PoolEngine::try_offer(mail);
    if (!status) unpack(mail, message);
    return status;
  }

 private:
  static PoolMail pack(Message& message, std::size_t bytes) {
    const auto key = static_cast<std::uint64_t>(message.key);
    return {.parcel = std::make_shared<Message>(std::move(message)), .bytes = bytes, .key = key};
  }

  static void unpack(PoolMail& mail, Message& message) {
    message = std::move(*static_cast<Message*>(mail.parcel.get()));
  }

  bool offer(Message& message, std::size_t bytes, PoolContext* caller) {
    PoolMail mail = pack(message, bytes);
    const bool accepted = PoolEngine::offer(mail, caller);
    if (!accepted) unpack(mail, message);
    return accepted;
  }
};

}  // namespace forebay
