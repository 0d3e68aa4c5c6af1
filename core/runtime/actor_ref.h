#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <utility>

#include "core/base/check.h"
#include "core/runtime/receiver.h"

namespace forebay {

template <class M, class... Ms>
concept OneOf = (std::same_as<M, Ms> || ...);

/// Reaches an actor that understands the messages listed, in this process or another. A value: copy
/// it, keep it, send it; it outlives the actor, whose death shows as kNotFound. Any thread.
template <class... Ms>
class ActorRef {
 public:
  ActorRef() = default;
  explicit ActorRef(ReceiverPtr receiver) : receiver_(std::move(receiver)) {}

  /// A ref that can less.
  template <class... Others>
  requires(sizeof...(Others) > sizeof...(Ms) && (OneOf<Ms, Others...> && ...))
      ActorRef(const ActorRef<Others...>& other)  // NOLINT(google-explicit-constructor)
      : receiver_(other.receiver()) {}

  /// Moves `message` into the actor's mailbox; `sender` is what its handler sees as sender.
  /// Messages of one thread to one actor are handled in their order. Refuses, with `message`
  /// untouched, with kOverloaded when the mailbox has no room, kNotFound when the actor is dead,
  /// kUnavailable when its process is out of reach. Of an actor elsewhere only the way to it is
  /// known: what is refused there is counted there; who must know asks.
  template <Message M>
  requires OneOf<M, Ms...> Status tell(M&& message, ActorId sender = ActorId::kNobody)
  const {
    if (receiver_ == nullptr) return fail(Code::kNotFound, "no actor is named");
    EnvelopePtr envelope = seal(std::forward<M>(message), sender);
    Status status = receiver_->push(envelope, MailboxCredit::kRequired);
    if (!status) message = std::move(static_cast<EnvelopeOf<M>&>(*envelope).message);
    return status;
  }

  /// Lets the actor end in good order behind what is queued.
  void stop() const {
    if (receiver_ != nullptr) receiver_->stop_behind_queue();
  }

  ActorId id() const { return receiver_ == nullptr ? ActorId::kNobody : receiver_->id(); }
  const ReceiverPtr& receiver() const { return receiver_; }
  bool operator==(const ActorRef&) const = default;

 private:
  ReceiverPtr receiver_;
};

/// What the actors behind an `ActorRef<Ms...>` take.
template <class... Ms>
inline constexpr std::array<const MessageType*, sizeof...(Ms)> kTypesOf{kTypeOf<Ms>...};

/// A ref whose messages are not in its type: what a node keeps of the actors it lets others reach.
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

/// A ref travels as the name by which the node that sends it knows the actor. What arrives reaches
/// that actor through the node it came from; it takes only what the sender's ref listed.
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

/// Sends `watcher` a Down when the actor dies or is out of reach, or at once when it is. Any
/// thread. Both refs name somebody.
template <class... Ms>
void watch(const ActorRef<Ms...>& actor, const ActorRef<Down>& watcher) {
  FOREBAY_CHECK(actor.receiver() != nullptr && watcher.receiver() != nullptr);
  actor.receiver()->watch(watcher.receiver());
}

}  // namespace forebay
