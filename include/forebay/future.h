/// Answers of Forebay's actors that may not have come yet.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <forebay/message.h>

namespace forebay::actors {

/// What a thread that waits for an answer can do meanwhile: the work that brings it. Forebay
/// implements it; thread-safe.
class WaitingWork {
 public:
  virtual ~WaitingWork() = default;
  /// Works until `done`, which is cheap, returns true; may return earlier.
  virtual void help_until(const std::function<bool()>& done) = 0;
  /// Has the thread that works call `done` again.
  virtual void look_again() = 0;
};

/// An answer that may not have come yet. A handle: copies are the same answer. Take it once, with
/// wait() or then(); one that nobody takes is dropped.
template <class T>
class Future {
 public:
  using Function = std::function<void(Result<T>)>;

  /// Blocks until the answer is there. Not for handlers: use `Context::then` there.
  Result<T> wait() const {
    if (state_->work != nullptr) state_->work->help_until([this] { return ready(); });
    std::unique_lock lock(state_->mutex);
    state_->settled.wait(lock, [this] { return state_->result.has_value(); });
    return take();
  }
  bool ready() const {
    const std::lock_guard lock(state_->mutex);
    return state_->result.has_value();
  }
  /// Calls `function` with the answer: now if it is there, else on the thread that brings it, which
  /// must not be blocked.
  void then(Function function) const {
    std::unique_lock lock(state_->mutex);
    if (!state_->result) {
      state_->then = std::move(function);
      return;
    }
    Result<T> result = take();
    lock.unlock();
    function(std::move(result));
  }

 private:
  template <class>
  friend class Promise;
  template <class U>
  friend Future<std::vector<U>> all_of(const std::vector<Future<U>>& futures);
  template <class U>
  friend Future<std::pair<std::size_t, U>> any_of(const std::vector<Future<U>>& futures);

  struct State {
    explicit State(std::shared_ptr<WaitingWork> waiting) : work(std::move(waiting)) {}
    const std::shared_ptr<WaitingWork> work;  // may be null
    std::mutex mutex;
    std::condition_variable settled;
    std::optional<Result<T>> result;  // under mutex, as those below
    bool set = false;
    Function then;
  };

  explicit Future(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// The first work among theirs; null if there is none.
  static std::shared_ptr<WaitingWork> work_of(const std::vector<Future>& futures) {
    for (const Future& future : futures) {
      if (future.state_->work != nullptr) return future.state_->work;
    }
    return nullptr;
  }
  Result<T> take() const {
    Error taken{Code::kInvalid, "the answer was taken before"};
    return std::exchange(*state_->result, Result<T>(std::move(taken)));
  }

  std::shared_ptr<State> state_;
};

/// The other end of a Future. A handle; the first result counts, and when the last handle goes
/// without one, the answer is kUnavailable.
template <class T>
class Promise {
 public:
  Promise() : Promise(nullptr) {}
  /// `work`: what brings the answer, for a thread that waits for it; null: the thread sleeps.
  explicit Promise(std::shared_ptr<WaitingWork> work)
      : held_(std::make_shared<Held>(std::move(work))) {}

  void set(Result<T> result) const { held_->set(std::move(result)); }
  Future<T> future() const { return Future<T>(held_->state); }

 private:
  struct Held {
    explicit Held(std::shared_ptr<WaitingWork> work)
        : state(std::make_shared<typename Future<T>::State>(std::move(work))) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { set(Error{Code::kUnavailable, "whoever had to answer has ended without an answer"}); }
    void set(Result<T> result) const {
      std::unique_lock lock(state->mutex);
      if (std::exchange(state->set, true)) return;
      if (auto then = std::exchange(state->then, nullptr)) {
        lock.unlock();
        then(std::move(result));
        return;
      }
      state->result = std::move(result);
      state->settled.notify_all();
      lock.unlock();
      if (state->work != nullptr) state->work->look_again();
    }
    const std::shared_ptr<typename Future<T>::State> state;
  };

  std::shared_ptr<Held> held_;
};

/// All answers, in the order of `futures`; the first error if there is one. A thread that waits for
/// them does the work that brings the first.
template <class T>
Future<std::vector<T>> all_of(const std::vector<Future<T>>& futures) {
  struct Gathered {
    explicit Gathered(std::shared_ptr<WaitingWork> work) : promise(std::move(work)) {}
    std::mutex mutex;
    std::vector<std::optional<T>> values;  // under mutex, as `left`
    std::size_t left = 0;
    Promise<std::vector<T>> promise;
  };
  auto gathered = std::make_shared<Gathered>(Future<T>::work_of(futures));
  gathered->values.resize(futures.size());
  gathered->left = futures.size();
  if (futures.empty()) gathered->promise.set(std::vector<T>());
  for (std::size_t i = 0; i < futures.size(); ++i) {
    futures[i].then([gathered, i](Result<T> result) {
      if (!result) return gathered->promise.set(result.error());
      const std::lock_guard lock(gathered->mutex);
      gathered->values[i] = std::move(*result);
      if (--gathered->left > 0) return;
      std::vector<T> values;
      for (auto& value : gathered->values) values.push_back(std::move(*value));
      gathered->promise.set(std::move(values));
    });
  }
  return gathered->promise.future();
}

/// The first answer that is no error, and which of `futures` it is; the last error if all fail. As
/// with all_of, a thread that waits does work meanwhile.
template <class T>
Future<std::pair<std::size_t, T>> any_of(const std::vector<Future<T>>& futures) {
  auto left = std::make_shared<std::atomic<std::size_t>>(futures.size());
  const Promise<std::pair<std::size_t, T>> promise(Future<T>::work_of(futures));
  if (futures.empty()) promise.set(Error{Code::kInvalid, "any_of was given no future"});
  for (std::size_t i = 0; i < futures.size(); ++i) {
    futures[i].then([left, promise, i](Result<T> result) {
      const bool last = --*left == 0;
      if (result) return promise.set(std::pair(i, std::move(*result)));
      if (last) promise.set(result.error());
    });
  }
  return promise.future();
}

}  // namespace forebay::actors
