#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace forebay {

/// The maximum number of messages that an actor handles in one turn.
constexpr std::size_t kTurn = 256;

/// A unit that an executor runs: an actor with messages in its mailbox.
class Resumable {
 public:
  enum class Next : std::uint8_t {
    kMore,   ///< Submit it again, or resume it at once.
    kAwait,  ///< Do not touch it: it submits itself when it has work.
    kDone,   ///< Do not touch it: it may be destroyed.
  };

  virtual ~Resumable() = default;

  /// Handles at most `messages` messages. Only one thread at a time calls it.
  virtual Next resume(std::size_t messages) = 0;

  Resumable* next_in_line = nullptr;  ///< Used by the executor while it holds this object.
};

/// Runs resumables on its threads. It knows nothing of actors, and actors nothing of its threads.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Lets a thread resume `work`, which must live until it returns kDone. Thread-safe.
  virtual void submit(Resumable& work) = 0;

  /// Wakes a sleeping thread, because the backlog of a submitted resumable grows.
  virtual void nudge() = 0;

  /// Calls `wake`, and may run the work that it submits on the calling thread, within a short
  /// limit. When a thread waits for an answer, waking another thread takes longest.
  virtual void run_here(const std::function<void()>& wake) { wake(); }
};

}  // namespace forebay
