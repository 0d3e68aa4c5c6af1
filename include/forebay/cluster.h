/// Forebay's actors on several nodes: a program starts actors on other processes by type and name.
///
/// A library has the types:
///
///   #include <forebay/cluster.h>
///   … struct Counter : Actor<Counter, Add, Total>, made from an int, as in actor.h
///
///   FOREBAY_ACTORS(types) { types.add<Counter, int>("counter"); }
///
/// Nodes load it, and a head knows them:
///
///   forebay head --listen tcp://127.0.0.1:29400 --store store
///   forebay worker --join 127.0.0.1:29400 --name n1 --actors libcounter.so
///
/// A program joins and uses the same references as for actors of its own process:
///
///   auto cluster = Cluster::join({.head = "127.0.0.1:29400"});
///   if (!cluster) return 1;
///   auto counter = cluster->spawn<Counter>({.type = "counter", .name = "c"}, 40).wait();
///   if (!counter) return 1;
///   (void)counter->tell(Add{2});
///
/// Another program finds it: `cluster->find<Counter>("c")`. A `tell` to another process succeeds
/// when the message is queued for sending; a full mailbox there drops it. Use `ask` where it
/// matters. docs/actors.md says what happens when a node dies. task.h runs functions on nodes.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <forebay/actor.h>
#include <forebay/task.h>

namespace forebay::actors {

/// The version of what a library of actors and Forebay agree on.
inline constexpr std::uint32_t kLibraryVersion = 3;

/// The arguments of an actor's constructor, as they travel.
template <class... Args>
struct StartArgs {
  std::tuple<Args...> values;
  static auto fields(auto& self) {
    return std::apply([](auto&... value) { return std::tie(value...); }, self.values);
  }
};

/// Fails to compile, with the reason, unless nodes can make an A from Args. Always true.
template <class A, class... Args>
constexpr bool check_start() {
  static_assert(std::constructible_from<A, const Args&...>,
                "The actor has no constructor for these arguments.");
  static_assert((Writable<Args> && ...),
                "An argument of this actor cannot be sent to another process: use what a field of "
                "a message may be, such as std::string instead of a text in quotes.");
  return true;
}

/// The types of actors that a library offers. Forebay implements it.
class ActorTypes {
 public:
  using Make = std::unique_ptr<ActorObject> (*)(const void* start);
  struct Type {
    const ValueType* start = nullptr;  ///< Of the arguments.
    Make make = nullptr;
    bool gets_started = false;
  };

  virtual ~ActorTypes() = default;

  /// Lets programs start actors A by the name `type`, from arguments Args. A type of that name that
  /// was added before is refused, and the library with it.
  template <class A, class... Args>
  void add(std::string_view type) {
    static_assert(check_start<A, Args...>());
    add_type(type, {kTypeOf<StartArgs<Args...>>,
                    [](const void* start) -> std::unique_ptr<ActorObject> {
                      return std::apply(
                          [](const Args&... args) { return std::make_unique<A>(args...); },
                          static_cast<const StartArgs<Args...>*>(start)->values);
                    },
                    A::kGetsStarted});
  }

  /// Lets programs run this function on nodes by the name `task`; see task.h.
  template <auto kFunction>
  void add_task(std::string_view task) {
    add<TaskActor<kFunction>>(task);
  }

 protected:
  virtual void add_type(std::string_view name, const Type& type) = 0;
};

/// Which of the nodes with room an actor goes to.
enum class Placing : std::uint8_t {
  kSpread,  ///< The one with the fewest actors.
  kPack,    ///< The one with the most.
};

/// How an actor is started on a node.
struct ClusterSpawn {
  std::string type;  ///< As its library added it.
  std::string name;  ///< Unique in the cluster while the actor lives: 1 to 128 bytes, one line.
  std::string node = {};                    ///< Where it starts; "": see `near` and `placing`.
  std::size_t mailbox_bytes = 1024 * 1024;  ///< What may wait for it; 0 is no limit.
  /// After so many crashes within `period` it ends, and after the loss of so many of its nodes.
  std::size_t restarts = 0;
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  bool own_thread = false;  ///< For an actor that blocks or computes for long.
  /// What it needs of a node, of the CPUs and the memory that `forebay worker --cpus N --memory
  /// SIZE` has announced. Accounted for, in thousandths of a CPU, and not enforced.
  double cpus = 0;
  std::uint64_t memory_bytes = 0;
  Placing placing = Placing::kSpread;
  /// The name of an actor on whose node it starts. When it is started again elsewhere, that node is
  /// tried first.
  std::string near = {};
};

/// Where an actor is.
struct ActorPlace {
  std::string node;
  std::uint64_t moves = 0;  ///< How often it was started again because its node was lost.
};

/// A program's part in a cluster of actors: a session with its head, sessions with the nodes whose
/// actors it uses, and actors of its own.
///
/// Its destructor stops the program's own actors, each after its current message, and leaves;
/// actors on nodes go on. Thread-safe. A future of it must not be waited for in a handler.
class Cluster final {
 public:
  struct Options {
    std::string head;         ///< "H:P" or "tcp://H:P", as `forebay head` prints it.
    std::string keys = {};    ///< The folder with CURVE keys; needed beyond loopback.
    std::size_t threads = 2;  ///< For the program's own actors and the bookkeeping.
    /// How long join, spawn and find go on trying while a head or node cannot be reached.
    std::chrono::nanoseconds patience = std::chrono::seconds(10);
    /// Receives lines for the user. On any thread.
    std::function<void(const std::string&)> on_message = {};
    ObjectLimits objects = {};  ///< Of this program; a node has those of its options.
  };

  /// Blocks until the head answers. kInvalid: wrong address or keys; kUnavailable: no head answers.
  static Result<Cluster> join(const Options& options);
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();

  /// Starts an actor on a node. kInvalid: a wrong name, or one that is taken; kNotFound: no node
  /// has this type, or there is no such node or actor `near`; kOverloaded: no node has room, and
  /// the message says what each of them lacks; kUnavailable: the head or the node went meanwhile:
  /// then the actor may or may not have been started.
  template <class A, class... Args>
  Future<typename A::Ref> spawn(const ClusterSpawn& options, Args... args) {
    static_assert(check_start<A, Args...>());
    return typed<typename A::Ref>(
        spawn_named(options, Box::of(StartArgs<Args...>{{std::move(args)...}})));
  }

  /// Starts actors of one type, each from the same arguments, all of them or none: if one has no
  /// node, or its constructor throws, those that have started end, and the error names it. At most
  /// 1024. Does not wait for nodes that may join yet. Errors as those of spawn.
  template <class A, class... Args>
  Future<std::vector<typename A::Ref>> spawn_group(const std::vector<ClusterSpawn>& group,
                                                   Args... args) {
    static_assert(check_start<A, Args...>());
    const Promise<std::vector<typename A::Ref>> promise;
    spawn_all(group, Box::of(StartArgs<Args...>{{std::move(args)...}}))
        .then([promise](Result<std::vector<TargetPtr>> targets) {
          if (!targets) return promise.set(targets.error());
          std::vector<typename A::Ref> refs;
          for (TargetPtr& target : *targets) refs.emplace_back(std::move(target));
          promise.set(std::move(refs));
        });
    return promise.future();
  }

  /// Runs a function on a node that has it and room for it, and on another one if that node dies;
  /// see task.h. The answer is the function's, or why it was not run.
  template <auto kFunction, class... Args>
  Future<TaskReply<kFunction>> run(const TaskOptions& options, Args&&... args) {
    const Promise<TaskReply<kFunction>> promise;
    const auto call =
        spawn_here<TaskCall<kFunction>>({.name = options.task}, starter_of(options), options,
                                        TaskArgs<kFunction>(std::forward<Args>(args)...), promise);
    static_cast<void>(call.tell(TryTask{}));
    return promise.future();
  }

  /// The actor of that name, which accepts the messages of A. kNotFound: there is none.
  template <class A>
  Future<typename A::Ref> find(const std::string& name) {
    return typed<typename A::Ref>(find_named(name));
  }

  /// Where the actor of that name is now. kUnavailable: it is being started again.
  Future<ActorPlace> place(const std::string& name);

  /// Starts an actor in this process. It reaches actors on nodes by references that it is given,
  /// and they reach it by references in messages.
  template <class A, class... Args>
  typename A::Ref spawn_here(const SpawnOptions& options, Args... args) {
    return spawn_at<A>(host(), options, std::move(args)...);
  }

  /// Calls `function` once, on a thread of this cluster, when `actor` has ended or its node cannot
  /// be reached. An actor that is started again elsewhere can then be watched again.
  template <class... Ms>
  void watch(const Ref<Ms...>& actor, std::function<void(const Down&)> function) {
    watch_at(host(), actor, std::move(function));
  }

  /// Makes an object in this process, which nodes fetch from it; see put_at.
  template <class T>
  auto put(T value) {
    return put_at(host().objects(), std::move(value));
  }

  Host& host();

 private:
  class Running;
  explicit Cluster(std::unique_ptr<Running> running);

  Future<TargetPtr> spawn_named(const ClusterSpawn& options, Box start);
  /// What starts an actor that runs the task, each time under another name.
  std::function<Future<TargetPtr>()> starter_of(const TaskOptions& options);
  Future<TargetPtr> find_named(const std::string& name);
  Future<std::vector<TargetPtr>> spawn_all(const std::vector<ClusterSpawn>& group,
                                           const Box& start);

  template <class R>
  static Future<R> typed(const Future<TargetPtr>& found) {
    const Promise<R> promise;
    found.then([promise](Result<TargetPtr> target) {
      if (!target) return promise.set(target.error());
      promise.set(R(std::move(*target)));
    });
    return promise.future();
  }

  std::unique_ptr<Running> running_;
};

}  // namespace forebay::actors

/// Defines the function of a library that adds its types of actors; see the top of this file.
#define FOREBAY_ACTORS(types)                                                                    \
  extern "C" __attribute__((visibility("default"))) const std::uint32_t forebay_actors_version;  \
  extern "C" __attribute__((visibility("default"))) const std::uint32_t forebay_actors_version = \
      forebay::actors::kLibraryVersion;                                                          \
  extern "C" __attribute__((visibility("default"))) void forebay_actors(                         \
      forebay::actors::ActorTypes& types)
