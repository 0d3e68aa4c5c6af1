#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/result.h"
#include "core/base/thread_group.h"

namespace forebay {

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

}  // namespace forebay
