#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/base/result.h"

namespace forebay {

/// A thread that runs posted functions one after another, or one function once a period.
///
/// The thread belongs to the thread group of the thread that starts it. Functions must not throw,
/// and the objects they use must outlive the worker. stop() and the destructor wait for the
/// function under way and drop those that have not begun. Thread-safe.
class BackgroundWorker {
 public:
  using Work = std::function<void()>;

  /// Starts the thread with the first post(). `use` completes "no thread can be started for …".
  explicit BackgroundWorker(std::string use) : use_(std::move(use)) {}
  /// Calls `tick` once a `period`, from now on. Throws NoThread.
  BackgroundWorker(std::string use, std::chrono::nanoseconds period, Work tick);
  ~BackgroundWorker() { stop(); }
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  /// Runs `work` after all that was posted before. kUnavailable: the thread cannot be started.
  Status post(Work work);

  /// Ends the thread; nothing runs afterwards.
  void stop();

 private:
  void start();
  void run();

  const std::string use_;
  const std::chrono::nanoseconds period_{0};
  const Work tick_;  // empty: there is no period
  std::mutex mutex_;
  std::condition_variable woken_;
  std::deque<Work> posted_;  // under mutex_, as all below
  bool stopping_ = false;
  std::thread thread_;
};

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
