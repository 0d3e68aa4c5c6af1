/// Forebay's actors: plain state that handles one message at a time. This is a whole program:
///
///   #include <forebay/actor.h>
///   using namespace forebay::actors;
///
///   struct Add {
///     static constexpr std::string_view kTag = "counter/add";
///     int count = 0;
///     static auto fields(auto& self) { return std::tie(self.count); }
///   };
///   struct Total {
///     static constexpr std::string_view kTag = "counter/total";
///     using Reply = int;
///     static auto fields(auto&) { return std::tie(); }
///   };
///   struct Counter : Actor<Counter, Add, Total> {
///     void on(const Add& add) { total += add.count; }
///     int on(const Total&) { return total; }
///     int total = 0;
///   };
///
///   int main() {
///     auto system = System::start({});
///     if (!system) return 1;
///     const auto counter = system->spawn<Counter>({.name = "counter"});
///     (void)counter.tell(Add{40});
///     (void)counter.tell(Add{2});
///     const auto total = counter.ask(Total{}, std::chrono::seconds(1)).wait();
///     return total && *total == 42 ? 0 : 1;
///   }
///
/// Link Forebay::actors (`find_package(Forebay)`). message.h says what a message is. A handler is
/// `on(const M&)` or `on(M&&)`, with a `Context&` as a second argument if it needs one. It returns
/// nothing, the message's Reply, a Status or Result with it, or a Future of it; an error goes to
/// the asker. An exception that leaves a handler is a crash: the actor is made anew, as often as
/// its SpawnOptions allow, then it ends, and its watchers get Down.
///
/// An actor that is made anew has forgotten its state, unless it keeps one: it has `save()`, which
/// returns a value that a message may have as a field, and `load(value)`. What save() returns when
/// a handler calls `keep(context)` is given to load() before the first message of the next actor:
///
///   struct Counter : Actor<Counter, Add, Keep> {
///     …
///     int save() const { return total; }
///     void load(int kept) { total = kept; }
///     Future<std::monostate> on(const Keep&, Context& context) { return keep(context); }
///   };
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
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <forebay/future.h>
#include <forebay/message.h>
#include <forebay/object.h>

namespace forebay::actors {

/// Where messages to one actor go. Forebay implements it; thread-safe.
class Target {
 public:
  using Done = std::function<void(Result<Box>)>;

  virtual ~Target() = default;
  /// Takes the message, or refuses it and leaves it.
  virtual Status push(Box& message) = 0;
  /// Calls `done` once, with an answer of type `reply` or an error.
  virtual void ask(Box message, const ValueType* reply, std::chrono::nanoseconds deadline,
                   Done done) = 0;
  /// Tells `watcher` with a Down when this actor ends.
  virtual void watch(TargetPtr watcher) = 0;
  virtual void stop() = 0;
  /// Equal for targets of one actor.
  virtual const void* identity() const = 0;
  /// What a thread that waits for an answer of the actor can do meanwhile; null: nothing.
  virtual std::shared_ptr<WaitingWork> waiting_work() const { return nullptr; }
};

template <class M, class... Ms>
inline constexpr bool kIsOneOf = (std::same_as<M, Ms> || ...);

/// A reference to an actor that accepts the messages Ms. A value: copy,
/// keep, or send it. It may outlive the actor; then calls return kNotFound. Thread-safe.
template <class... Ms>
class Ref {
 public:
  Ref() = default;
  explicit Ref(TargetPtr target) : target_(std::move(target)) {}
  /// Of an actor that accepts more.
  template <class... Others>
  requires(sizeof...(Others) > sizeof...(Ms) && (kIsOneOf<Ms, Others...> && ...))
      Ref(const Ref<Others...>& other)  // NOLINT(google-explicit-constructor)
      : target_(other.target()) {}

  /// Puts `message` into the actor's mailbox. Messages of one thread to one actor are handled in
  /// order, each at most once. kOverloaded: the mailbox is full; kNotFound: the actor has ended.
  template <class M>
  Status tell(M message) const {
    check<M>();
    if (target_ == nullptr) return nobody();
    Box box = Box::of(std::move(message));
    return target_->push(box);
  }

  /// Asks for an M's Reply. After kTimeout and kUnavailable the message may or may not have been
  /// handled.
  template <class M>
  Future<ReplyOf<M>> ask(M message, std::chrono::nanoseconds deadline) const {
    check<M>();
    using R = ReplyOf<M>;
    const Promise<R> promise(target_ == nullptr ? nullptr : target_->waiting_work());
    auto future = promise.future();
    if (target_ == nullptr) {
      promise.set(nobody());
      return future;
    }
    target_->ask(Box::of(std::move(message)), kTypeOf<R>, deadline, [promise](Result<Box> answer) {
      if (!answer) return promise.set(answer.error());
      promise.set(std::move(answer->template as<R>()));
    });
    return future;
  }

  /// Ends the actor after the messages that wait for it now.
  void stop() const {
    if (target_ != nullptr) target_->stop();
  }

  explicit operator bool() const { return target_ != nullptr; }
  const TargetPtr& target() const { return target_; }
  template <class... Others>
  bool operator==(const Ref<Others...>& other) const {
    return identity() == other.identity();
  }
  const void* identity() const { return target_ == nullptr ? nullptr : target_->identity(); }

 private:
  template <class M>
  static void check() {
    static_assert(check_message<M>());
    static_assert(
        kIsOneOf<M, Ms...>,
        "The actor behind this Ref does not accept this message: only those that its Actor "
        "or Ref lists.");
  }
  static Error nobody() { return {Code::kNotFound, "the reference is empty"}; }

  TargetPtr target_;
};

template <class... Ms>
struct Field<Ref<Ms...>> {
  static void write(Writer& writer, const Ref<Ms...>& ref) { writer.actor(ref.target()); }
  static bool read(Reader& reader, Ref<Ms...>& ref) {
    TargetPtr target;
    if (!reader.actor(target)) return false;
    ref = Ref<Ms...>(std::move(target));
    return true;
  }
};

/// Forebay → watcher: an actor has ended, or cannot be reached any more.
struct Down {
  static constexpr std::string_view kTag = "forebay/down";
  Ref<> actor;         ///< `down.actor == ref` for the watched ref.
  std::string reason;  ///< "" if it ended in order.
  static auto fields(auto& self) { return std::tie(self.actor, self.reason); }
};

/// Forebay → actor: it has been started, also again on another node. Only an actor that lists this
/// message gets it; it comes before those of others. Not sent after a crash.
struct Started {
  static constexpr std::string_view kTag = "forebay/started";
  static auto fields(auto&) { return std::tie(); }
};

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

  /// Starts an actor in this process.
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

/// An actor, as Forebay sees it; derive from Actor.
class ActorObject {
 public:
  virtual ~ActorObject() = default;
  /// The type of the accepted message with this number; null if there is none.
  virtual const ValueType* message_type(std::uint64_t number) const = 0;
  /// Handles a message. An empty box answers with success.
  virtual Result<Box> receive(Box& message, Context& context) = 0;
  /// The type of the state that it keeps; null if it keeps none.
  virtual const ValueType* kept_type() const { return nullptr; }
  /// Takes a kept state, a value of that type.
  virtual void load_kept(Box&) {}
};

/// An actor that keeps its state: `S save() const` and `load(S)`.
template <class A>
concept Keeps = requires(A& actor, const A& fixed) {
  actor.load(fixed.save());
};

template <class A, class M>
concept Handles = requires(A& actor, M message, Context& context) {
  actor.on(std::move(message), context);
}
|| requires(A& actor, M message) { actor.on(std::move(message)); };

/// The state that an actor A keeps.
template <class A>
using KeptBy = std::remove_cvref_t<decltype(std::declval<const A&>().save())>;

/// An actor Self that handles the messages Ms, one at a time and without locks.
template <class Self, class... Ms>
class Actor : public ActorObject {
 public:
  using Ref = actors::Ref<Ms...>;
  static constexpr bool kGetsStarted = kIsOneOf<Started, Ms...>;

  const ValueType* message_type(std::uint64_t number) const final {
    const ValueType* found = nullptr;
    static_cast<void>(((kTypeOf<Ms>->number == number && (found = kTypeOf<Ms>, true)) || ...));
    return found;
  }

  Result<Box> receive(Box& message, Context& context) final {
    static_assert((check_message<Ms>() && ...));
    return receive_one_of<Ms...>(message, context);
  }

  const ValueType* kept_type() const final {
    if constexpr (Keeps<Self>) return kTypeOf<KeptBy<Self>>;
    return nullptr;
  }

  void load_kept(Box& state) final {
    if constexpr (Keeps<Self>) self().load(std::move(state.as<KeptBy<Self>>()));
  }

 protected:
  /// This actor's own reference.
  static Ref self(Context& context) { return Ref(context.turn().self()); }

  /// Keeps what save() returns now, instead of the state before. The answer comes when it is
  /// safe: an actor on a node of a cluster keeps its state with the head, and one in this process
  /// in memory. Several may be on their way; the last call counts. kInvalid: the state takes more
  /// than 16 MiB or holds references; kUnavailable, kTimeout: the head cannot be reached, or it has
  /// not answered: it may or may not have the state, so keep it again; kOverloaded: too much is on
  /// its way, or the head has no room.
  Future<std::monostate> keep(Context& context) {
    static_assert(Keeps<Self>,
                  "An actor that keeps its state needs public members `S save() const` and "
                  "`load(S)`.");
    static_assert(Writable<KeptBy<Self>> && std::default_initializable<KeptBy<Self>>,
                  "What save() returns must have a constructor without arguments and be what a "
                  "field of a message may be.");
    return context.turn().keep(Box::of(static_cast<const Self&>(*this).save()));
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }

  template <class M, class... Others>
  Result<Box> receive_one_of(Box& message, Context& context) {
    if (message.type() == kTypeOf<M>) return handle<M>(message.template as<M>(), context);
    return receive_one_of<Others...>(message, context);
  }
  template <class... None>
  requires(sizeof...(None) == 0) Result<Box> receive_one_of(Box&, Context&) {
    return Error{Code::kInvalid, "the actor does not handle this message"};
  }

  template <class M>
  auto call(M& message, Context& context) {
    static_assert(Handles<Self, M>,
                  "This actor lists a message and has no handler for it: write `on(const M&)` or "
                  "`on(const M&, Context&)` as a public member.");
    if constexpr (requires { self().on(std::move(message), context); }) {
      return self().on(std::move(message), context);
    } else {
      return self().on(std::move(message));
    }
  }

  template <class M>
  Result<Box> handle(M& message, Context& context) {
    using R = ReplyOf<M>;
    using Returned = decltype(call(message, context));
    if constexpr (std::is_void_v<Returned>) {
      static_assert(
          std::same_as<R, std::monostate>,
          "A handler of a message with a Reply must return the Reply, a Result or a Future "
          "of it.");
      call(message, context);
      return Box();
    } else {
      static_assert(
          std::convertible_to<Returned, Result<R>> || std::same_as<Returned, Future<R>>,
          "A handler must return the message's Reply, a Result or a Future of it; nothing "
          "or a Status if it has no Reply.");
      if constexpr (std::same_as<Returned, Future<R>>) {
        answer_later(call(message, context), context);
        return Box();
      } else {
        Result<R> result = call(message, context);
        if (!result) return result.error();
        return Box::of(std::move(*result));
      }
    }
  }

  template <class R>
  static void answer_later(const Future<R>& future, Context& context) {
    future.then([asker = context.turn().take_asker()](Result<R> result) {
      if (!asker) return;
      if (!result) return asker(result.error());
      asker(Box::of(std::move(*result)));
    });
  }
};

/// Starts an actor at `host`; `args` are copied for each restart.
template <class A, class... Args>
typename A::Ref spawn_at(Host& host, const SpawnOptions& options, Args... args) {
  static_assert(std::constructible_from<A, const Args&...>,
                "The actor has no constructor for these arguments.");
  const typename A::Ref ref(
      host.spawn(options, [... args = std::move(args)]() -> std::unique_ptr<ActorObject> {
        return std::make_unique<A>(args...);
      }));
  if constexpr (A::kGetsStarted) static_cast<void>(ref.tell(Started{}));
  return ref;
}

template <class A, class... Args>
typename A::Ref Context::spawn(const SpawnOptions& options, Args... args) {
  return spawn_at<A>(turn_.host(), options, std::move(args)...);
}

/// Calls a function when an actor has ended; what System::watch starts.
class Watcher final : public Actor<Watcher, Down> {
 public:
  explicit Watcher(std::function<void(const Down&)> function) : function_(std::move(function)) {}
  void on(const Down& down, Context& context) {
    function_(down);
    context.stop();
  }

 private:
  const std::function<void(const Down&)> function_;
};

/// Starts a Watcher of `actor` at `host`; none for an empty reference.
template <class... Ms>
void watch_at(Host& host, const Ref<Ms...>& actor, std::function<void(const Down&)> function) {
  if (!actor) return;
  const auto watcher = spawn_at<Watcher>(host, {.name = "watcher"}, std::move(function));
  actor.target()->watch(watcher.target());
}

/// Actors in this process, and the threads that run them.
///
/// Its destructor stops all actors, each after its current message. A Promise whose Future a
/// handler returned must be set or gone by then. Thread-safe.
class System final {
 public:
  struct Options {
    std::size_t threads = 2;  ///< For all actors without a thread of their own.
    /// Receives lines for the user: an error that no asker waited for, an actor that blocks one of
    /// the threads for a second. On any thread.
    std::function<void(const std::string&)> on_message = {};
    ObjectLimits objects = {};
  };

  /// kUnavailable: no thread can be started.
  static Result<System> start(const Options& options);
  System(System&&) noexcept;
  System& operator=(System&&) noexcept;
  ~System();

  /// Starts an actor. Its constructor's arguments are copied for each restart.
  template <class A, class... Args>
  typename A::Ref spawn(const SpawnOptions& options, Args... args) {
    return spawn_at<A>(host(), options, std::move(args)...);
  }

  /// Calls `function` once, on a thread of this system, when `actor` has ended.
  template <class... Ms>
  void watch(const Ref<Ms...>& actor, std::function<void(const Down&)> function) {
    watch_at(host(), actor, std::move(function));
  }

  /// Makes an object in this process; see put_at.
  template <class T>
  auto put(T value) {
    return put_at(host().objects(), std::move(value));
  }

  /// Stops all actors, each after the messages that wait for it, and waits for them. Not from a
  /// handler.
  void stop();
  std::size_t num_living() const;
  Host& host();

 private:
  class Running;
  explicit System(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace forebay::actors
