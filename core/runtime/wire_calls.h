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

/// Names a message type between nodes: FNV-1a of its tag. Which tags an actor takes is a short
/// list, so that two of them with one number would show the first time they are used together.
constexpr std::uint64_t tag_number(std::string_view tag) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : tag) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return hash;
}

/// Where the answer to a message that came from another node is written.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;

  /// Lets `write` append the answer's bytes, and sends them. Once.
  virtual void send(const std::function<void(WireBuffer&, WireContext&)>& write) = 0;
};

/// Answers one who asked from another node; an answer never given is sent as kUnavailable.
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

/// A message or an answer as it came: bytes nobody vouches for.
struct WireInput {
  std::span<const std::byte> bytes;
  std::span<Frame> frames;
  WireContext& context;
};

/// How messages of one type travel between nodes.
struct WireCalls {
  std::uint64_t number = 0;  ///< Of the tag.

  /// Appends the message's fields.
  void (*encode)(const Envelope& envelope, WireBuffer& out, WireContext& context);

  /// The message in an envelope, answered through `sink` when there is one; or kCorrupt, and the
  /// sink is left.
  Result<std::unique_ptr<Envelope, DestroyEnvelope>> (*decode)(const WireInput& input,
                                                               std::unique_ptr<AnswerSink>& sink);

  /// Gives whoever asked with `envelope` the answer that came; kCorrupt when it is none.
  void (*answer)(Envelope& envelope, const WireInput& input);

  /// Whether anybody asked with `envelope`.
  bool (*asks)(const Envelope& envelope);
};

}  // namespace forebay
