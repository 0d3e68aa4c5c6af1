#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/base/thread/waiting_work.h"
#include "core/runtime/envelope.h"
#include "core/runtime/mailbox.h"

namespace forebay {

class ActorHost;
class Receiver;

/// Keeps a receiver's memory alive; the actor behind it may be dead.
using ReceiverPtr = std::shared_ptr<Receiver>;

/// The destination of one actor's messages: its cell in this process, or the representative of an
/// actor in another process. Thread-safe.
class Receiver {
 public:
  Receiver(ActorHost& host, ActorId id) : host_(host), id_(id) {}
  virtual ~Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Takes `envelope`, or refuses and leaves it: kOverloaded when the mailbox is full, kNotFound
  /// when the actor is dead, kUnavailable when its process is unreachable.
  virtual Status push(EnvelopePtr& envelope, MailboxCredit credit) = 0;

  /// Sends `watcher` a Down when the actor dies or becomes unreachable, or at once if it already
  /// is.
  virtual void watch(ReceiverPtr watcher) = 0;

  /// Ends the actor in an orderly way after the messages queued now.
  virtual void stop_behind_queue() = 0;

  /// Bytes of the messages that wait for the actor; 0 if they are not in this process.
  virtual std::size_t waiting_bytes() const { return 0; }

  /// Work that a thread can do while it waits for an answer of the actor; null: it sleeps.
  virtual std::shared_ptr<WaitingWork> waiting_work() const { return nullptr; }

  /// The host of this process whose timers and clock an ask uses.
  ActorHost& host() const { return host_; }
  ActorId id() const { return id_; }

 private:
  ActorHost& host_;
  const ActorId id_;
};

/// Delivers a message of the runtime, also to a full mailbox; a dead receiver refuses it.
template <Message M>
void deliver(Receiver& receiver, M&& message) {
  EnvelopePtr envelope = seal(std::forward<M>(message));
  static_cast<void>(receiver.push(envelope, MailboxCredit::kExempt));
}

/// Runtime → watcher: the actor is dead, or unreachable so that its state is unknown.
struct Down {
  static constexpr std::string_view kTag = "runtime.down/1";
  ActorId actor = ActorId::kNobody;
  std::optional<Error> crash = std::nullopt;  ///< Absent: it ended in an orderly way.
};

template <class M, class... Ms>
concept OneOf = (std::same_as<M, Ms> || ...);

/// A reference to an actor that accepts the listed messages, in this process or another. A value:
/// copy, keep or send it. It may outlive the actor; then calls return kNotFound. Thread-safe.
template <class... Ms>
class ActorRef {
 public:
  ActorRef() = default;
  explicit ActorRef(ReceiverPtr receiver) : receiver_(std::move(receiver)) {}

  /// Converts to a ref with fewer messages.
  template <class... Others>
  requires(sizeof...(Others) > sizeof...(Ms) && (OneOf<Ms, Others...> && ...))
      ActorRef(const ActorRef<Others...>& other)  // NOLINT(google-explicit-constructor)
      : receiver_(other.receiver()) {}

  /// Moves `message` into the actor's mailbox. Messages from one thread to one actor are handled in
  /// order. On refusal leaves `message` unchanged: kOverloaded when the mailbox is full, kNotFound
  /// when the actor is dead, kUnavailable when its process is unreachable. For an actor of another
  /// process, success means only that the message was queued for sending; the other node counts
  /// messages that it refuses. Use `ask` to learn the result.
  template <Message M>
  requires OneOf<M, Ms...> Status tell(M&& message)
  const {
    if (receiver_ == nullptr) return fail(Code::kNotFound, "no actor is named");
    EnvelopePtr envelope = seal(std::forward<M>(message));
    Status status = receiver_->push(envelope, MailboxCredit::kRequired);
    if (!status) message = std::move(static_cast<EnvelopeOf<M>&>(*envelope).message);
    return status;
  }

  /// Ends the actor in an orderly way after the messages queued now.
  void stop() const {
    if (receiver_ != nullptr) receiver_->stop_behind_queue();
  }

  ActorId id() const { return receiver_ == nullptr ? ActorId::kNobody : receiver_->id(); }
  const ReceiverPtr& receiver() const { return receiver_; }
  bool operator==(const ActorRef&) const = default;

 private:
  ReceiverPtr receiver_;
};

/// The message types of an `ActorRef<Ms...>`.
template <class... Ms>
inline constexpr std::array<const MessageType*, sizeof...(Ms)> kTypesOf{kTypeOf<Ms>...};

/// A ref without static message types; a node keeps one for each actor that peers can reach.
struct AnyActor {
  ReceiverPtr receiver;
  std::span<const MessageType* const> types;

  AnyActor() = default;
  AnyActor(ReceiverPtr actor, std::span<const MessageType* const> takes)
      : receiver(std::move(actor)), types(takes) {}
  template <class... Ms>
  AnyActor(const ActorRef<Ms...>& ref)  // NOLINT(google-explicit-constructor): it is one.
      : receiver(ref.receiver()), types(kTypesOf<Ms...>) {}
};

/// A ref is sent as the name by which the sending node knows the actor. The received ref reaches
/// the actor through that node, and the actor accepts only the messages that the sender's ref
/// lists.
template <>
struct WireField<AnyActor> {
  static void write(Encoder& encoder, const AnyActor& actor) {
    if (actor.receiver == nullptr) return encoder.nil();
    encoder.actor(std::make_shared<AnyActor>(actor));
  }
  static bool read(Decoder& decoder, AnyActor& actor) {
    std::shared_ptr<void> receiver;
    if (!decoder.actor(receiver)) return false;
    actor.receiver = std::static_pointer_cast<Receiver>(receiver);
    return true;
  }
};

template <class... Ms>
struct WireField<ActorRef<Ms...>> {
  static void write(Encoder& encoder, const ActorRef<Ms...>& ref) {
    WireField<AnyActor>::write(encoder, ref);
  }
  static bool read(Decoder& decoder, ActorRef<Ms...>& ref) {
    AnyActor actor;
    if (!WireField<AnyActor>::read(decoder, actor)) return false;
    ref = ActorRef<Ms...>(std::move(actor.receiver));
    return true;
  }
};

/// Sends `watcher` a Down when the actor dies or becomes unreachable, or at once if it already is.
/// Neither ref may be empty. Thread-safe.
template <class... Ms>
void watch(const ActorRef<Ms...>& actor, const ActorRef<Down>& watcher) {
  FOREBAY_CHECK(actor.receiver() != nullptr && watcher.receiver() != nullptr);
  actor.receiver()->watch(watcher.receiver());
}

}  // namespace forebay
