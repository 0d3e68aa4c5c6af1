/// What a handler of an actor can do besides changing its state.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <forebay/future.h>
#include <forebay/object.h>
#include <forebay/ref.h>

namespace forebay::actors {

/// How an actor is run.
struct SpawnOptions {
  std::string name = "actor";               ///< In messages; need not be unique.
  std::size_t mailbox_bytes = 1024 * 1024;  ///< What may wait for it; 0 is no limit.
  std::size_t restarts = 0;                 ///< After so many crashes within `period` it ends.
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  /// For an actor that blocks or computes for long: others wait while it holds a shared thread.
  bool own_thread = false;
};

class ActorObject;
using ActorFactory = std::function<std::unique_ptr<ActorObject>()>;

/// Starts actors in this process. Forebay implements it; thread-safe.
class Host {
 public:
  virtual ~Host() = default;
  /// `make` makes the actor, again after each crash.
  virtual TargetPtr spawn(const SpawnOptions& options, ActorFactory make) = 0;
  virtual ObjectSpace& objects() = 0;
};

/// What a running handler can do; Forebay implements it.
class Turn {
 public:
  using Post = std::function<void(std::function<void()>)>;

  virtual ~Turn() = default;
  virtual std::chrono::nanoseconds now() const = 0;
  virtual TargetPtr self() = 0;
  virtual Host& host() = 0;
  virtual void after(std::chrono::nanoseconds delay, Box message) = 0;
  virtual void stop() = 0;
  /// Takes over the answer to the message at hand.
  virtual Target::Done take_asker() = 0;
  /// What it returns runs a function as a message of this actor, unless it has crashed since.
  virtual Post post() = 0;
  /// Keeps a state of this actor; see Actor::keep.
  virtual Future<std::monostate> keep(Box state) = 0;
};

/// The actions of a handler besides changing its actor's state. Valid during one call.
class Context {
 public:
  explicit Context(Turn& turn) : turn_(turn) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Time since a fixed moment. In a test it is the simulated time.
  std::chrono::nanoseconds now() const { return turn_.now(); }

  /// Calls `function(Result<T>)` with the answer, as a message of this actor: it may use the
  /// actor's state. Not called if the actor crashes or ends before.
  template <class T, class Function>
  void then(const Future<T>& future, Function function) {
    future.then([post = turn_.post(), function = std::move(function)](Result<T> result) mutable {
      auto held = std::make_shared<Result<T>>(std::move(result));
      post([function, held]() mutable { function(std::move(*held)); });
    });
  }

  /// Sends `message` to this actor after `delay`, if it still lives.
  template <class M>
  void after(std::chrono::nanoseconds delay, M message) {
    static_assert(check_message<M>());
    turn_.after(delay, Box::of(std::move(message)));
  }

  /// Sends this actor a Down when `actor` ends, or at once if it has. This actor must handle Down.
  template <class... Ms>
  void watch(const Ref<Ms...>& actor) {
    if (actor) actor.target()->watch(turn_.self());
  }

  /// Starts an actor in this process. Defined in actor.h.
  template <class A, class... Args>
  typename A::Ref spawn(const SpawnOptions& options, Args... args);

  /// Makes an object in this process; see put_at.
  template <class T>
  auto put(T value) {
    return put_at(turn_.host().objects(), std::move(value));
  }

  /// Ends this actor after the current message.
  void stop() { turn_.stop(); }

  Turn& turn() { return turn_; }

 private:
  Turn& turn_;
};

}  // namespace forebay::actors
