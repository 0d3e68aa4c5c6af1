#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/runtime/envelope.h"

namespace forebay {

/// Whether a message needs credit in the mailbox of its receiver.
enum class MailboxCredit : std::uint8_t {
  kRequired,  ///< Refused if the mailbox is full.
  kExempt,    ///< Always accepted: answers and the runtime's own messages, bounded by the requests
              ///< they answer.
};

/// An actor's lock-free queue: many threads push, one pops. First in, first out for each sender;
/// bounded in bytes, but an empty mailbox accepts one message of any size.
///
/// Owns the envelopes. New ones form a stack that a push extends with one exchange; the reader
/// takes the whole stack and reverses it. The same word also marks that the reader sleeps (the next
/// push must wake it) or that the actor is dead. The reader returns the bytes when it rests, at the
/// latest one turn after the message was handled.
class Mailbox {
 public:
  enum class Push : std::uint8_t {
    kQueued,
    kWake,     ///< Queued, and the reader sleeps: the caller must schedule it.
    kBacklog,  ///< Queued, and the backlog has grown by another kBacklogStep bytes.
    kFull,     ///< Not taken.
    kClosed,   ///< Not taken.
  };

  static constexpr std::size_t kBacklogStep = 4096;

  explicit Mailbox(std::size_t limit_bytes);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Takes `envelope` unless it returns kFull or kClosed. Thread-safe.
  [[nodiscard]] Push push(EnvelopePtr& envelope, MailboxCredit credit);

  /// Takes all pushed messages, once the ones taken before are used up. Only for the reader, as are
  /// all methods below, and only while it is awake; the reader of a new mailbox sleeps.
  void fetch();

  /// The next taken message, or null.
  EnvelopePtr pop();

  /// Returns the bytes of popped messages to the senders' limit.
  void give_credit();

  /// Returns true if the mailbox is empty: the next push is then a kWake, perhaps already on
  /// another thread. Returns false if there is a message to pop.
  [[nodiscard]] bool sleep();

  /// Refuses further messages and drops the queued ones.
  void close();

  /// Bytes that count against the limit. Thread-safe.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void drop(Envelope* list);

  alignas(64) std::atomic<Envelope*> top_;  // cache line of the senders
  std::atomic<std::size_t> bytes_{0};
  const std::size_t limit_;
  alignas(64) Envelope* first_ = nullptr;  // cache line of the reader: taken messages, in order
  std::size_t popped_bytes_ = 0;
};

}  // namespace forebay
