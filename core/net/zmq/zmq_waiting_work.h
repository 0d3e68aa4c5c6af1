#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core/base/descriptor.h"
#include "core/base/thread/waiting_work.h"

namespace forebay {

/// The WaitingWork of a transport: one waiting thread at a time does the transport's work.
///
/// Belongs to the transport and to all that may wait for its messages. Thread-safe.
class ZmqWaitingWork final : public WaitingWork {
 public:
  /// Works until what it is given returns true; may return earlier. Calls waits() and woke().
  using Work = std::function<void(const std::function<bool()>& done)>;

  /// `work` is called until end() only.
  explicit ZmqWaitingWork(Work work);

  void help_until(const std::function<bool()>& done) override;
  void look_again() override;

  /// Returns when no thread helps, and none will.
  void end();

  /// For the helping thread: whether it is to wait, for descriptor() among others; unless `done`.
  bool waits(const std::function<bool()>& done);
  /// For the helping thread: it does not wait any more, and will call `done` before it does.
  void woke();

  /// Is written to when the helping thread waits and is to look again.
  int descriptor() const { return look_again_.number(); }
  /// For the transport's own thread before it calls epoll_wait: if the helping thread waits there,
  /// returns when that thread is awake, or after `most`. The thread that calls epoll_wait last gets
  /// the next event; so the helping thread gets the answer, without another wake-up. Returns
  /// whether it waited.
  bool wait_behind(std::chrono::nanoseconds most);
  /// The transport's own thread took what was for the helping thread: wakes it, and returns when it
  /// is awake, so that this does not happen again.
  void pass_on();

 private:
  const Descriptor look_again_;
  const Work work_;
  std::mutex mutex_;                        // held by the thread that helps
  std::atomic<std::thread::id> helping_{};  // that thread
  std::atomic<bool> waiting_{false};
  std::atomic<bool> behind_{false};  // the transport's own thread is in wait_behind(); cleared
                                     // under awake_mutex_ by the thread that wakes it
  std::atomic<bool> ended_{false};
  std::mutex awake_mutex_;
  std::condition_variable awake_;
};

}  // namespace forebay
