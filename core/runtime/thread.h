#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/base/thread_group.h"

namespace forebay {

/// A named thread with a stack of a chosen size, in the thread group of the one that starts it;
/// joined when it dies.
///
/// Stacks are small on purpose: their pages count against the memory limit.
class Thread {
 public:
  struct Options {
    std::string name;                      ///< Cut to 15 characters, its number kept.
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
