#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace forebay {

/// Messages an actor handles before others get a turn.
constexpr std::size_t kTurn = 256;

/// What an executor runs: an actor with something in its mailbox.
class Resumable {
 public:
  enum class Next : std::uint8_t {
    kMore,   ///< Submit it again, or go on at once.
    kAwait,  ///< Hands off: it submits itself when there is something to do.
    kDone,   ///< Hands off: it may be gone.
  };

  virtual ~Resumable() = default;

  /// Handles at most so many messages. Called by one thread at a time.
  virtual Next resume(std::size_t messages) = 0;

  Resumable* next_in_line = nullptr;  ///< The executor's, while it holds this one.
};

/// Lends threads to resumables. It knows nothing of actors, and they nothing of its threads.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Lets some thread resume `work`, which lives until it says kDone. Any thread.
  virtual void submit(Resumable& work) = 0;

  /// A backlog grows at something submitted; a thread that sleeps should look at it.
  virtual void nudge() = 0;

  /// Calls `wake`, and may run what that submits on the calling thread, as far as it is short:
  /// where an answer is waited for, waking another thread is what takes longest.
  virtual void run_here(const std::function<void()>& wake) { wake(); }
};

}  // namespace forebay
