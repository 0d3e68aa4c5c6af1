#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace forebay {

/// Calls a function once a period, on its own thread, from construction to destruction.
///
/// The destructor waits for a call under way. The function must not throw, and the objects it uses
/// must outlive the ticker.
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
