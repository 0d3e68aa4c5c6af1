#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "core/base/background_worker.h"

namespace forebay {

/// Calls a function once a period, on its own thread, from construction to destruction.
///
/// The destructor waits for a call under way. The function must not throw, and the objects it uses
/// must outlive the ticker.
class Ticker {
 public:
  Ticker(std::chrono::milliseconds period, std::function<void()> tick)
      : worker_("a ticker", period, std::move(tick)) {}

 private:
  BackgroundWorker worker_;
};

}  // namespace forebay
