#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/runtime/envelope.h"

namespace forebay {

/// Whether a message needs credit in the mailbox it goes to.
enum class MailboxCredit : std::uint8_t {
  kRequired,  ///< Refused when the mailbox is full.
  kExempt,    ///< Always taken: answers and orders of the runtime, bounded by what they answer.
};

/// An actor's queue: many threads push, one pops, nobody locks. First in, first out for each
/// sender; bounded in bytes, except that an empty mailbox takes one message of any size.
///
/// Owns the envelopes. New ones form a stack that a push extends by one exchange; the reader takes
/// it whole and turns it round. The same word says that the reader sleeps (the next push must
/// wake it) or that the actor is dead. Bytes are given back when the reader rests, a turn at most
/// after the message was handled.
class Mailbox {
 public:
  enum class Push : std::uint8_t {
    kQueued,
    kWake,     ///< Queued, and the reader sleeps: schedule it.
    kBacklog,  ///< Queued, and another kBacklogStep bytes wait now.
    kFull,     ///< Not taken.
    kClosed,   ///< Not taken.
  };

  static constexpr std::size_t kBacklogStep = 4096;

  explicit Mailbox(std::size_t limit_bytes);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Any thread. Takes `envelope` unless the answer is kFull or kClosed.
  [[nodiscard]] Push push(EnvelopePtr& envelope, MailboxCredit credit);

  /// Takes what has come, when what was taken before is used up. The reader only, as all below,
  /// and only while it is awake; a new mailbox's reader sleeps.
  void fetch();

  /// The next of what was taken, or nothing.
  EnvelopePtr pop();

  /// Gives the bytes of what was popped back to the senders.
  void give_credit();

  /// True: the mailbox is empty and the next push is a kWake, perhaps already on another
  /// thread. False: there is something to pop.
  [[nodiscard]] bool sleep();

  /// Takes nothing any more and drops what is queued.
  void close();

  /// Bytes that count against the bound. Any thread.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // Marks in top_ beside nullptr, which says: empty, and the reader is awake.
  Envelope* asleep() { return &asleep_; }
  Envelope* closed() { return &closed_; }
  void drop(Envelope* list);

  const std::size_t limit_;
  Envelope asleep_;
  Envelope closed_;
  alignas(64) std::atomic<Envelope*> top_;  // the senders' line
  std::atomic<std::size_t> bytes_{0};
  alignas(64) Envelope* first_ = nullptr;  // the reader's line: taken, in order
  std::size_t popped_bytes_ = 0;
};

}  // namespace forebay
