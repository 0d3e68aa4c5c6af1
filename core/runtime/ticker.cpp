#include "core/runtime/ticker.h"

#include <utility>

#include "core/base/start_thread.h"

namespace forebay {

Ticker::Ticker(std::chrono::milliseconds period, std::function<void()> tick)
    : period_(period),
      tick_(std::move(tick)),
      thread_(start_thread("a ticker", [this] { run(); })) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Ticker::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period_, [this] { return ended_; })) {
    lock.unlock();
    tick_();
    lock.lock();
  }
}

}  // namespace forebay
