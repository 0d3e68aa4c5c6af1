#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/result.h"

namespace forebay {

/// The threads that work for one owner, such as a session: threads that entered the group with a
/// Member, and all that they start in turn with start_thread() or Thread.
///
/// Lives as long as one of its threads or owners. Thread-safe.
class ThreadGroup {
 public:
  /// Puts the calling thread in `group` (null: in no group) from construction to destruction, then
  /// back in its previous group.
  class Member {
   public:
    explicit Member(std::shared_ptr<ThreadGroup> group);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    std::shared_ptr<ThreadGroup> before_;
  };

  /// The group of the calling thread; null when the thread belongs to no group.
  static std::shared_ptr<ThreadGroup> current();

  /// The kernel's ids of the threads that are in the group now.
  std::set<pid_t> threads() const;

 private:
  mutable std::mutex mutex_;
  std::multiset<pid_t> threads_;
};

/// The system cannot start another thread; what() says what it was for, why, and what to do.
class NoThread : public std::runtime_error {
 public:
  /// `error` is the result of pthread_create.
  NoThread(std::string_view wanted_for, int error);
};

/// Starts a thread that runs `body` in the thread group of the calling thread. Throws NoThread,
/// since std::thread says only "Resource temporarily unavailable". `wanted_for` completes "no
/// thread can be started for …".
template <class Body>
std::thread start_thread(std::string_view wanted_for, Body&& body) {
  try {
    return std::thread([group = ThreadGroup::current(), run = std::forward<Body>(body)]() mutable {
      const ThreadGroup::Member member(std::move(group));
      run();
    });
  } catch (const std::system_error& refused) {
    throw NoThread(wanted_for, refused.code().value());
  }
}

/// Whether `count` threads can be started now; kUnavailable says how many can. Call it before a
/// library that exits or aborts the process when it cannot start a thread. The answer holds until
/// another process of the same user starts a thread.
Status check_threads(std::size_t count, std::string_view wanted_for);

/// A named thread with a stack of a given size, in the thread group of the thread that starts it;
/// the destructor joins it.
///
/// Stacks are small on purpose: their pages count against the memory limit.
class Thread {
 public:
  struct Options {
    std::string name;                      ///< Shortened to 15 characters; its number is kept.
    std::size_t stack_bytes = 512 * 1024;  ///< Rounded up to what the system accepts.
  };

  Thread(const Options& options, std::function<void()> body);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

 private:
  static void* enter(void* self);

  std::shared_ptr<ThreadGroup> group_;
  std::function<void()> body_;
  pthread_t handle_{};
};

}  // namespace forebay
