#pragma once

#include <chrono>
#include <functional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/own_threads.h"

namespace forebay {

/// Calls a function once a period, by an actor on a thread of its own, from construction to
/// destruction.
///
/// If the function throws, the actor is restarted: `failed` gets the error, and the function is
/// called again when the next period ends. The destructor waits for a call under way. The objects
/// that the functions use must outlive the ticker.
class Ticker {
 public:
  using Failed = std::function<void(const Error&)>;

  /// Calls `tick` and, on its thread, `failed`, which may be empty. Throws NoThread.
  Ticker(std::chrono::milliseconds period, std::function<void()> tick, Failed failed = {});

 private:
  SystemClock clock_;
  OwnThreads threads_{clock_};
};

}  // namespace forebay
