#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/base/start_thread.h"

namespace forebay {

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
