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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <forebay/context.h>
#include <forebay/future.h>
#include <forebay/message.h>
#include <forebay/object.h>
#include <forebay/ref.h>

namespace forebay::actors {

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
