#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace forebay {

/// Calls a function again and again, a period apart, on a thread of its own.
///
/// From its construction to its end, which waits for a call that is under way. The function must
/// not throw and what it uses must outlive the ticker.
class Ticker {
 public:
  Ticker(std::chrono::milliseconds period, std::function<void()> tick);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void run();

  const std::chrono::milliseconds period_;
  const std::function<void()> tick_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace forebay
