#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/runtime/wire_calls.h"
#include "core/wire/encoder.h"

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

/// Writes the head of a message.
template <class... Numbers>
void write_head(WireBuffer& out, NodeMessage kind, Numbers... numbers) {
  constexpr std::size_t kBytes = 1 + 8 * sizeof...(Numbers);
  std::byte* to = out.room(kBytes);
  *to++ = static_cast<std::byte>(kind);
  const auto put = [&to](std::uint64_t number) {
    std::memcpy(to, &number, 8);
    to += 8;
  };
  (put(numbers), ...);
  out.filled_to(to);
}

/// Reads the head of a message.
class HeadReader {
 public:
  explicit HeadReader(std::span<const std::byte> bytes) : left_(bytes) {}

  std::uint8_t kind() {
    if (left_.empty()) return 0;
    const auto kind = static_cast<std::uint8_t>(left_[0]);
    left_ = left_.subspan(1);
    return kind;
  }
  /// False if fewer than 8 bytes are left.
  bool number(std::uint64_t& out) {
    if (left_.size() < 8) return false;
    std::memcpy(&out, left_.data(), 8);
    left_ = left_.subspan(8);
    return true;
  }
  std::span<const std::byte> rest() const { return left_; }

 private:
  std::span<const std::byte> left_;
};

}  // namespace forebay
