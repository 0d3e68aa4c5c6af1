#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "core/runtime/envelope.h"
#include "core/wire/frame.h"

namespace forebay {

/// The messages between nodes about actors. The numbers come first, 8 bytes each, little-endian;
/// the rest is MessagePack (core/wire).
enum class NodeMessage : std::uint8_t {
  kTell = 1,    ///< target, type, fields
  kAsk = 2,     ///< target, type, question, fields
  kAnswer = 3,  ///< question, Result
  kWatch = 4,   ///< target
  kDown = 5,    ///< target, optional Error
  kStop = 6,    ///< target
};

/// How the nodes of a session name an actor: by its id on the node where it lives, or by the hash
/// of a published name, with the top bit set.
constexpr std::uint64_t kPublishedBit = std::uint64_t{1} << 63;
constexpr std::uint64_t published_target(std::string_view name) {
  return tag_number(name) | kPublishedBit;
}

/// Appends the head of a message to `out`, and returns `out`.
template <class... Numbers>
WireBuffer& write_head(WireBuffer& out, NodeMessage kind, Numbers... numbers) {
  constexpr std::size_t kBytes = 1 + 8 * sizeof...(Numbers);
  std::byte* to = out.room(kBytes);
  *to++ = static_cast<std::byte>(kind);
  const auto put = [&to](std::uint64_t number) {
    std::memcpy(to, &number, 8);
    to += 8;
  };
  (put(numbers), ...);
  out.filled_to(to);
  return out;
}

/// The head of a received message.
struct NodeHead {
  NodeMessage kind;
  std::array<std::uint64_t, 3> numbers;  ///< In the order that NodeMessage gives.
  std::span<const std::byte> rest;

  /// Nothing if `bytes` are too few, or of a kind that is not known.
  static std::optional<NodeHead> read(std::span<const std::byte> bytes) {
    constexpr std::array<std::size_t, 7> kNumbers = {0, 2, 3, 1, 1, 1, 1};  // by kind
    const auto kind = bytes.empty() ? 0 : static_cast<std::size_t>(bytes[0]);
    if (kind == 0 || kind >= kNumbers.size() || bytes.size() < 1 + 8 * kNumbers[kind]) {
      return std::nullopt;
    }
    NodeHead head{static_cast<NodeMessage>(kind), {}, bytes.subspan(1 + 8 * kNumbers[kind])};
    std::memcpy(head.numbers.data(), bytes.data() + 1, 8 * kNumbers[kind]);
    return head;
  }
};

}  // namespace forebay
