#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/thread/start_thread.h"
#include "core/runtime/executor/parker.h"

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

/// Lets a thread that is not the executor's own run what it wakes: waking another thread takes
/// longest, and what is handled at once is still in the cache. One thread at a time may use it.
class ExecutorGuest {
 public:
  virtual ~ExecutorGuest() = default;

  /// Calls `wake`, and keeps the last work that it submits.
  virtual void keep(const std::function<void()>& wake) = 0;
  virtual bool has_work() const = 0;
  /// Runs the work kept, on the calling thread, within a short limit that its last message may
  /// exceed; returns the time it took. Another thread may call keep() and pass_on() meanwhile.
  virtual std::chrono::nanoseconds run() = 0;
  /// Leaves the work kept to the executor's threads.
  virtual void pass_on() = 0;
};

/// Runs resumables on its threads. It knows nothing of actors, and actors nothing of its threads.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Lets a thread resume `work`, which must live until it returns kDone. Thread-safe.
  virtual void submit(Resumable& work) = 0;

  /// Wakes a sleeping thread, because the backlog of a submitted resumable grows.
  virtual void nudge() = 0;

  /// For a thread that is not the executor's own and wakes actors again and again; null if it
  /// cannot run any itself. Must not outlive the executor.
  virtual std::unique_ptr<ExecutorGuest> guest() { return nullptr; }
};

/// A thread for one actor that blocks or computes. Ends with the actor.
class DedicatedThread final : public Executor {
 public:
  explicit DedicatedThread(const Thread::Options& options) : thread_(options, [this] { run(); }) {}

  void submit(Resumable& work) override {
    work_.store(&work, std::memory_order_relaxed);
    parker_.unpark();
  }
  void nudge() override {}

  /// Whether the actor has ended; joining then waits only for the thread's last instructions.
  bool ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  void run() {
    Resumable::Next next = Resumable::Next::kAwait;
    while (next != Resumable::Next::kDone) {
      if (next == Resumable::Next::kAwait) parker_.park();
      next = work_.load(std::memory_order_relaxed)->resume(kTurn);
    }
    ended_.store(true, std::memory_order_release);
  }

  std::atomic<Resumable*> work_{nullptr};  // always the same actor
  std::atomic<bool> ended_{false};
  Parker parker_;
  Thread thread_;
};

/// A few threads for many actors that neither block nor compute for long.
///
/// An actor woken by a running actor goes into the slot of that thread and runs there next, while
/// its data is in the cache, without a lock or a wake-up; so two actors that exchange messages stay
/// on one core. Other work, and the slot's previous content, goes into one queue. An idle thread
/// looks at the queue, then at the slots of the other threads, and sleeps after several looks. The
/// destructor joins the threads; nothing may be submitted by then.
class SharedExecutor final : public Executor {
 public:
  struct Options {
    std::string name = "control";
    std::size_t threads = 2;
    std::size_t stack_bytes = 512 * 1024;
  };

  explicit SharedExecutor(const Options& options);
  ~SharedExecutor() override;

  void submit(Resumable& work) override;
  void nudge() override;
  std::unique_ptr<ExecutorGuest> guest() override;

  /// A turn that a thread of this executor, or a guest, is in.
  struct RunningTurn {
    const Resumable* work;  ///< May be gone by now: compare it, do not use it.
    std::uint64_t number;   ///< No other turn has this number.
  };

  /// The turns under way. Thread-safe.
  std::vector<RunningTurn> running() const;

  std::size_t num_threads() const { return workers_.size(); }

  /// Whether the calling thread runs the work of a shared executor: work that it submits waits for
  /// it, unless another thread looks for work.
  static bool is_on_thread() { return worker_of_thread != nullptr; }

 private:
  struct Worker;
  class Guest;

  void stop();
  void run(Worker& self);
  Resumable* next(Worker& self);
  Resumable* find(Worker& self);
  static Resumable* take_slot(Worker& worker);
  static Resumable::Next resume(Worker& self, Resumable& work, std::size_t messages);
  Resumable* pop_queue();  // under mutex_
  void enqueue(Resumable& work);
  Worker* this_worker() const;

  static thread_local Worker* worker_of_thread;  // NOLINT: of any executor.

  mutable std::mutex mutex_;
  Resumable* first_ = nullptr;  // the queue; under mutex_, as all below
  Resumable* last_ = nullptr;
  std::vector<Worker*> sleepers_;  // the most recently used last
  bool stopping_ = false;
  std::vector<Worker*> guests_;                   // those that live
  std::atomic<std::size_t> num_queued_{0};        // written under mutex_
  std::atomic<std::size_t> num_sleepers_{0};      // written under mutex_
  std::vector<std::unique_ptr<Worker>> workers_;  // does not change while threads run
};

}  // namespace forebay
