#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "core/runtime/block_pool.h"
#include "core/runtime/message.h"
#include "core/runtime/wire_calls.h"

namespace forebay {

struct Envelope;

/// The runtime's functions for a message type. There is one object for each type, and its address
/// identifies the type.
struct MessageType {
  std::string_view tag;
  void (*refuse)(Envelope& envelope, const Error& error);  ///< Answers the asker, if any.
  void (*destroy)(Envelope* envelope);  ///< An unanswered asker gets kUnavailable.
  const WireCalls* wire;                ///< Null if the type cannot leave the process.
};

/// A message in transit: a link of a mailbox's list, followed by the message.
struct Envelope {
  Envelope* next = nullptr;
  const MessageType* type = nullptr;
  ActorId sender = ActorId::kNobody;
  std::size_t bytes = 0;  ///< The bytes it counts for in a mailbox.
};

template <Message M>
struct EnvelopeOf;

struct DestroyEnvelope {
  void operator()(Envelope* envelope) const { envelope->type->destroy(envelope); }
};

/// An envelope that is not in a mailbox; destroying it answers the asker.
using EnvelopePtr = std::unique_ptr<Envelope, DestroyEnvelope>;

/// Moves `message` into an envelope.
template <Message M>
EnvelopePtr seal(M&& message, ActorId sender,
                 std::unique_ptr<Replier<ReplyOf<M>>> replier = nullptr);

template <Travels M>
struct TravellingCalls {
  using R = ReplyOf<M>;

  static void encode(const Envelope& envelope, WireBuffer& out, WireContext& context) {
    forebay::encode(static_cast<const EnvelopeOf<M>&>(envelope).message, out, &context);
  }

  static Result<EnvelopePtr> decode(const WireInput& input, std::unique_ptr<AnswerSink>& sink) {
    Result<M> message = forebay::decode<M>(input.bytes, input.frames, &input.context);
    if (!message) return pass(message);
    std::unique_ptr<Replier<R>> replier;
    if (sink != nullptr) replier = std::make_unique<WireReplier<R>>(std::move(sink));
    return seal(std::move(*message), ActorId::kNobody, std::move(replier));
  }

  static void answer(Envelope& envelope, const WireInput& input) {
    auto& typed = static_cast<EnvelopeOf<M>&>(envelope);
    if (typed.replier == nullptr) return;
    auto read = decode_value<Result<R>>(M::kTag, input.bytes, input.frames, &input.context);
    Result<R> result = read ? std::move(*read) : Result<R>(pass(read));
    std::exchange(typed.replier, nullptr)->answer(std::move(result));
  }

  static bool asks(const Envelope& envelope) {
    return static_cast<const EnvelopeOf<M>&>(envelope).replier != nullptr;
  }

  static constexpr WireCalls kCalls{tag_number(M::kTag), &encode, &decode, &answer, &asks};
};

template <Message M>
constexpr const WireCalls* wire_calls_of() {
  if constexpr (Travels<M>) {
    return &TravellingCalls<M>::kCalls;
  } else {
    return nullptr;
  }
}

template <Message M>
struct EnvelopeCalls {
  static void refuse(Envelope& envelope, const Error& error) {
    auto& typed = static_cast<EnvelopeOf<M>&>(envelope);
    if (typed.replier) std::exchange(typed.replier, nullptr)->answer(tl::unexpected<Error>(error));
  }

  static void destroy(Envelope* envelope) {
    auto* typed = static_cast<EnvelopeOf<M>*>(envelope);
    std::destroy_at(typed);
    give_block(typed, sizeof(EnvelopeOf<M>));
  }

  static constexpr MessageType kType{M::kTag, &refuse, &destroy, wire_calls_of<M>()};
};

template <Message M>
inline constexpr const MessageType* kTypeOf = &EnvelopeCalls<M>::kType;

template <Message M>
struct EnvelopeOf final : Envelope {
  M message;
  std::unique_ptr<Replier<ReplyOf<M>>> replier;  ///< Absent if there is no asker.
};

template <Message M>
EnvelopePtr seal(M&& message, ActorId sender, std::unique_ptr<Replier<ReplyOf<M>>> replier) {
  using Sealed = EnvelopeOf<M>;
  const std::size_t bytes = sizeof(Sealed) - sizeof(M) + bytes_of(message);
  return EnvelopePtr(::new (take_block(sizeof(Sealed))) Sealed{
      {nullptr, kTypeOf<M>, sender, bytes}, std::forward<M>(message), std::move(replier)});
}

}  // namespace forebay
