/// Functions that run on some node of a cluster of Forebay's actors.
///
/// A library offers a function under a name:
///
///   int square(int x) { return x * x; }
///   FOREBAY_ACTORS(types) { types.add_task<square>("square"); }
///
/// and a program, which has the declaration, runs it there:
///
///   auto squares = cluster->run<square>({.task = "square"}, 7);   // a Future<int>
///
/// Arguments and the result are what a field of a message may be, so `Object` and `Ref`, too. The
/// function may return a Result. It runs on a thread of its own, by an actor made for it: it waits
/// while no node has room, and runs again elsewhere when its node dies. So it may run more than
/// once: a task should have no effect besides its result.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <forebay/actor.h>

namespace forebay::actors {

/// How a task is run.
struct TaskOptions {
  std::string task;         ///< As its library added it.
  std::string node = {};    ///< Where it runs; "": on the node with the fewest actors.
  std::size_t retries = 3;  ///< After so many losses of its node the answer is kUnavailable.
  double cpus = 1;          ///< What it needs of a node; see ClusterSpawn.
  std::uint64_t memory_bytes = 0;
  /// For a node with room, and, if it is shorter than the cluster's, for one that has the task.
  std::chrono::nanoseconds patience = std::chrono::minutes(10);
  /// For one run. After it the answer is kTimeout, and the function may still be running.
  std::chrono::nanoseconds deadline = std::chrono::hours(24);
};

template <class T>
struct ValueOfTask {
  using Type = T;
};
template <>
struct ValueOfTask<void> {
  using Type = std::monostate;
};
template <class T>
struct ValueOfTask<Result<T>> {
  using Type = T;
};

template <class Function>
struct TaskParts;
template <class R, class... Args>
struct TaskParts<R (*)(Args...)> {
  using Reply = typename ValueOfTask<R>::Type;
  using Values = std::tuple<std::decay_t<Args>...>;
  static_assert((Writable<std::decay_t<Args>> && ...),
                "An argument of a task must be what a field of a message may be.");
  static_assert(Writable<Reply>, "What a task returns must be what a field of a message may be.");
};
template <auto kFunction>
using TaskReply = typename TaskParts<decltype(kFunction)>::Reply;
template <auto kFunction>
using TaskArgs = typename TaskParts<decltype(kFunction)>::Values;

/// The result of one run: a value, or the function's error. A message writes nothing and an empty
/// optional alike, so `done` says whether there is a value.
template <class T>
struct TaskAnswer {
  bool done = false;
  T value = {};
  Code code = Code::kInvalid;
  std::string message = {};
  static auto fields(auto& self) {
    return std::tie(self.done, self.value, self.code, self.message);
  }
};

/// Caller → task: run with these arguments.
template <auto kFunction>
struct RunTask {
  static constexpr std::string_view kTag = "forebay/run_task";
  using Reply = TaskAnswer<TaskReply<kFunction>>;
  TaskArgs<kFunction> args;
  static auto fields(auto& self) {
    return std::apply([](auto&... value) { return std::tie(value...); }, self.args);
  }
};

/// Task → itself: end, since no caller has come.
struct EndTask {
  static constexpr std::string_view kTag = "forebay/end_task";
  static auto fields(auto&) { return std::tie(); }
};

/// Runs a function once, on a node, and ends.
template <auto kFunction>
struct TaskActor final : Actor<TaskActor<kFunction>, Started, RunTask<kFunction>, EndTask> {
  using Reply = TaskReply<kFunction>;

  void on(const Started&, Context& context) { context.after(std::chrono::minutes(1), EndTask{}); }
  void on(const EndTask&, Context& context) { context.stop(); }

  TaskAnswer<Reply> on(RunTask<kFunction>&& run, Context& context) {
    context.stop();
    try {
      Result<Reply> result = call(std::move(run.args));
      if (result) return {.done = true, .value = std::move(*result)};
      return {.code = result.error().code, .message = result.error().message};
    } catch (const std::exception& thrown) {
      return {.message = std::string("the task threw: ") + thrown.what()};
    } catch (...) {
      return {.message = "the task threw an exception without words"};
    }
  }

 private:
  static Result<Reply> call(TaskArgs<kFunction>&& args) {
    if constexpr (std::is_void_v<decltype(std::apply(kFunction, std::move(args)))>) {
      std::apply(kFunction, std::move(args));
      return std::monostate();
    } else {
      return std::apply(kFunction, std::move(args));
    }
  }
};

/// Call → itself: start the task.
struct TryTask {
  static constexpr std::string_view kTag = "forebay/try_task";
  static auto fields(auto&) { return std::tie(); }
};
/// Call → itself: start it again, in a moment.
struct TryTaskLater {
  static constexpr std::string_view kTag = "forebay/try_task_later";
  static auto fields(auto&) { return std::tie(); }
};

/// One `run` in the program: starts the task until a node has run it.
template <auto kFunction>
class TaskCall final : public Actor<TaskCall<kFunction>, TryTask, TryTaskLater> {
 public:
  using Reply = TaskReply<kFunction>;
  using Answer = TaskAnswer<Reply>;

  TaskCall(std::function<Future<TargetPtr>()> start, TaskOptions options, TaskArgs<kFunction> args,
           Promise<Reply> promise)
      : start_(std::move(start)),
        options_(std::move(options)),
        args_(std::move(args)),
        promise_(std::move(promise)) {}

  void on(const TryTask&, Context& context) {
    // A patience without a limit must not overflow the sum.
    if (!until_) {
      until_ = context.now() + std::min<std::chrono::nanoseconds>(options_.patience, kCentury);
    }
    context.then(run_once(), [this, me = this->self(context),
                              is_last = context.now() >= *until_](Result<Answer> answer) {
      if (!answer && is_tried_again(answer.error(), is_last)) {
        if (me.tell(TryTaskLater{})) return;
      }
      promise_.set(result_of(std::move(answer)));
      me.stop();
    });
  }
  void on(const TryTaskLater&, Context& context) {
    context.after(std::chrono::milliseconds(50), TryTask{});
  }

 private:
  static constexpr std::chrono::hours kCentury{100 * 365 * 24};

  Future<Answer> run_once() {
    const Promise<Answer> promise;
    start_().then([promise, args = args_, deadline = options_.deadline](Result<TargetPtr> made) {
      if (!made) return promise.set(made.error());
      const Ref<RunTask<kFunction>> task(std::move(*made));
      task.ask(RunTask<kFunction>{args}, deadline).then([promise, task](Result<Answer> answer) {
        task.stop();
        promise.set(std::move(answer));
      });
    });
    return promise.future();
  }

  bool is_tried_again(const Error& error, bool is_last) {
    if (error.code == Code::kOverloaded) return !is_last;  // no node has room
    return error.code == Code::kUnavailable && options_.retries-- > 0;
  }

  static Result<Reply> result_of(Result<Answer> answer) {
    if (!answer) return answer.error();
    if (answer->done) return std::move(answer->value);
    return Error{answer->code, std::move(answer->message)};
  }

  const std::function<Future<TargetPtr>()> start_;
  TaskOptions options_;
  const TaskArgs<kFunction> args_;
  const Promise<Reply> promise_;
  std::optional<std::chrono::nanoseconds> until_;
};

}  // namespace forebay::actors
