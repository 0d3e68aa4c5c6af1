#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/runtime/message.h"
#include "core/wire/message_codec.h"

namespace forebay {

struct Envelope;
struct MessageType;
struct DestroyEnvelope;

/// Identifies a message type between nodes: FNV-1a of its tag. An actor accepts only a short list
/// of tags, so a collision of two of them would show the first time they are used together.
constexpr std::uint64_t tag_number(std::string_view tag) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : tag) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return hash;
}

/// Writes the answer to a message from another node.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;

  /// Calls `write` to append the answer's bytes, and sends them. Call it once.
  virtual void send(const std::function<void(WireBuffer&, WireContext&)>& write) = 0;
};

/// Answers an asker on another node; sends kUnavailable if it is destroyed without an answer.
template <class R>
class WireReplier final : public Replier<R> {
 public:
  explicit WireReplier(std::unique_ptr<AnswerSink> sink) : sink_(std::move(sink)) {}
  ~WireReplier() override {
    if (sink_ != nullptr) answer(fail(Code::kUnavailable, "the actor ended before it answered"));
  }
  WireReplier(const WireReplier&) = delete;
  WireReplier& operator=(const WireReplier&) = delete;

  void answer(Result<R> result) override {
    const std::unique_ptr<AnswerSink> sink = std::move(sink_);
    sink->send(
        [&result](WireBuffer& out, WireContext& context) { encode_value(result, out, &context); });
  }

 private:
  std::unique_ptr<AnswerSink> sink_;
};

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

  /// Decodes the message into an envelope, whose answer goes to `sink` if that is not null. Returns
  /// kCorrupt, and leaves `sink`, if the bytes do not decode.
  Result<std::unique_ptr<Envelope, DestroyEnvelope>> (*decode)(const WireInput& input,
                                                               std::unique_ptr<AnswerSink>& sink);

  /// Delivers the received answer to the asker of `envelope`; delivers kCorrupt if it does not
  /// decode.
  void (*answer)(Envelope& envelope, const WireInput& input);

  /// Whether `envelope` has an asker.
  bool (*asks)(const Envelope& envelope);
};

}  // namespace forebay
