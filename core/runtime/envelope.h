#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/runtime/block_pool.h"
#include "core/runtime/message.h"
#include "core/wire/codec.h"

namespace forebay {

/// Identifies a message type between nodes: FNV-1a of its tag. An actor accepts only a short list
/// of tags, so a collision of two of them would show the first time they are used together.
constexpr std::uint64_t tag_number(std::string_view tag) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : tag) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return hash;
}

struct Envelope;
struct WireCalls;

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
  std::size_t bytes = 0;  ///< The bytes it counts for in a mailbox.
};

struct DestroyEnvelope {
  void operator()(Envelope* envelope) const { envelope->type->destroy(envelope); }
};

/// An envelope that is not in a mailbox; destroying it answers the asker.
using EnvelopePtr = std::unique_ptr<Envelope, DestroyEnvelope>;

template <Message M>
struct EnvelopeOf final : Envelope {
  std::unique_ptr<Replier<ReplyOf<M>>> replier;  ///< Absent if there is no asker.
  M message;  ///< Last: the part of it that is used shares the envelope's cache line.
};

/// Sends the answer to a message from another node; `write` appends its bytes. Call it once.
using WireWriter = std::function<void(WireBuffer& out, WireContext& context)>;
using AnswerSink = std::function<void(const WireWriter& write)>;

/// A received message or answer: untrusted bytes.
struct WireInput {
  std::span<const std::byte> bytes;
  std::span<Frame> frames;
  WireContext& context;
};

/// The functions that send and receive messages of one type between nodes.
struct WireCalls {
  std::uint64_t number = 0;  ///< Hash of the tag.

  /// Appends the message's fields.
  void (*encode)(const Envelope& envelope, WireBuffer& out, WireContext& context);

  /// Decodes the message into an envelope, whose answer goes to `sink` if there is one. Returns
  /// kCorrupt, and leaves `sink`, if the bytes do not decode.
  Result<EnvelopePtr> (*decode)(const WireInput& input, AnswerSink& sink);

  /// Delivers the received answer to the asker of `envelope`; delivers kCorrupt if it does not
  /// decode.
  void (*answer)(Envelope& envelope, const WireInput& input);

  /// Whether `envelope` has an asker.
  bool (*asks)(const Envelope& envelope);
};

/// A message that can be sent to another process: it lists its fields.
template <class M>
concept Travels = Message<M> && Fielded<M>;

template <Travels M>
struct TravellingCalls {
  using R = ReplyOf<M>;

  static void encode(const Envelope& envelope, WireBuffer& out, WireContext& context) {
    encode_value(static_cast<const EnvelopeOf<M>&>(envelope).message, out, &context);
  }

  static Result<EnvelopePtr> decode(const WireInput& input, AnswerSink& sink) {
    Result<M> message = decode_value<M>(M::kTag, input.bytes, input.frames, &input.context);
    if (!message) return pass(message);
    std::unique_ptr<Replier<R>> replier;
    if (sink) {
      replier = reply_to<R>([sink = std::move(sink)](const Result<R>& result) {
        sink([&](WireBuffer& out, WireContext& context) { encode_value(result, out, &context); });
      });
    }
    return seal(std::move(*message), std::move(replier));
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

template <class M>
inline constexpr const WireCalls* kWireCallsOf = nullptr;
template <Travels M>
inline constexpr const WireCalls* kWireCallsOf<M> = &TravellingCalls<M>::kCalls;

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

  static constexpr MessageType kType{M::kTag, &refuse, &destroy, kWireCallsOf<M>};
};

template <Message M>
inline constexpr const MessageType* kTypeOf = &EnvelopeCalls<M>::kType;

/// Moves `message` into an envelope.
template <Message M>
EnvelopePtr seal(M&& message, std::unique_ptr<Replier<ReplyOf<M>>> replier = nullptr) {
  using Sealed = EnvelopeOf<M>;
  const std::size_t bytes = sizeof(Sealed) - sizeof(M) + bytes_of(message);
  return EnvelopePtr(::new (take_block(sizeof(Sealed))) Sealed{
      {nullptr, kTypeOf<M>, bytes}, std::move(replier), std::forward<M>(message)});
}

}  // namespace forebay
