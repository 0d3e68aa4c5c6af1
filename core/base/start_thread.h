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

/// The system has no thread left: what() says for what it was, why, and what to do.
class NoThread : public std::runtime_error {
 public:
  /// `error` is pthread_create's.
  NoThread(std::string_view wanted_for, int error);
};

/// A thread that runs `body`, in the thread group of the one that starts it. Throws NoThread, where
/// std::thread says "Resource temporarily unavailable" and nothing else. `wanted_for` completes "no
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

/// Whether `count` threads can be started at once; kUnavailable says how many can. For libraries
/// that end the process, or abort, where they get no thread: asked before they are. The answer
/// holds until another process of the user takes one.
Status check_threads(std::size_t count, std::string_view wanted_for);

}  // namespace forebay
