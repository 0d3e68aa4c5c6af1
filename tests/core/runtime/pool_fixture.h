#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/stage_pool.h"
#include "tests/support/wait_until.h"

namespace forebay::test {

/// A message that cannot be copied, like a split that owns its buffers.
struct Token {
  std::uint64_t key = 0;
  std::unique_ptr<std::uint64_t> payload = nullptr;
};

inline Token token(std::uint64_t key) { return {key, std::make_unique<std::uint64_t>(key)}; }

/// Threads wait at it until it is opened.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

/// Events of workers and callbacks, in order.
template <class T>
class Log {
 public:
  void add(T entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  std::vector<T> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<T> entries_;
};

/// A worker that calls a function.
class FunctionWorker final : public PoolWorker<Token> {
 public:
  using Function = std::function<Status(Token&&, PoolContext&)>;
  explicit FunctionWorker(Function function) : function_(std::move(function)) {}
  Status on(Token&& message, PoolContext& context) override {
    return function_(std::move(message), context);
  }

 private:
  Function function_;
};

using TokenPool = StagePool<Token>;

inline TokenPool::Options options_for(FunctionWorker::Function function) {
  TokenPool::Options options;
  options.name = "test";
  options.mailbox_bytes = 1 << 20;
  options.factory = [function] { return std::make_unique<FunctionWorker>(function); };
  return options;
}

}  // namespace forebay::test
