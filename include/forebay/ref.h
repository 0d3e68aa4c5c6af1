/// References to Forebay's actors.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <forebay/future.h>
#include <forebay/message.h>

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

}  // namespace forebay::actors
