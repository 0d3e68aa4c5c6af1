#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "core/base/check.h"
#include "core/wire/frame.h"

namespace forebay {

/// Appends values to the buffer as MessagePack, each in its shortest form.
///
/// Owns nothing. `context` may be null where no reference to an actor is written.
class Encoder {
 public:
  explicit Encoder(WireBuffer& out, WireContext* context = nullptr)
      : out_(out), context_(context) {}

  void nil() { put(std::byte{0xc0}); }
  void boolean(bool value) { put(value ? std::byte{0xc3} : std::byte{0xc2}); }

  void number(std::uint64_t value) {
    if (value < 0x80) return put(static_cast<std::byte>(value));
    if (value <= 0xff) return put_sized<std::uint8_t>(0xcc, value);
    if (value <= 0xffff) return put_sized<std::uint16_t>(0xcd, value);
    if (value <= 0xffffffff) return put_sized<std::uint32_t>(0xce, value);
    put_sized<std::uint64_t>(0xcf, value);
  }

  void number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    if (value >= 0) return number(bits);
    if (value >= -32) return put(static_cast<std::byte>(bits));
    if (value >= std::numeric_limits<std::int8_t>::min())
      return put_sized<std::uint8_t>(0xd0, bits);
    if (value >= std::numeric_limits<std::int16_t>::min())
      return put_sized<std::uint16_t>(0xd1, bits);
    if (value >= std::numeric_limits<std::int32_t>::min())
      return put_sized<std::uint32_t>(0xd2, bits);
    put_sized<std::uint64_t>(0xd3, bits);
  }

  void number(float value) { put_sized<std::uint32_t>(0xca, std::bit_cast<std::uint32_t>(value)); }
  void number(double value) { put_sized<std::uint64_t>(0xcb, std::bit_cast<std::uint64_t>(value)); }

  void text(std::string_view value) {
    if (value.size() < 32) {
      put(static_cast<std::byte>(0xa0 | value.size()));
    } else {
      put_length(0xd9, value.size());
    }
    append(value.data(), value.size());
  }

  void bytes(std::span<const std::byte> value) {
    put_length(0xc4, value.size());
    append(value.data(), value.size());
  }

  /// `count` values follow.
  void array(std::size_t count) {
    if (count < 16) return put(static_cast<std::byte>(0x90 | count));
    put_long(0xdc, count);
  }

  /// `count` pairs of a key and a value follow.
  void map(std::size_t count) {
    if (count < 16) return put(static_cast<std::byte>(0x80 | count));
    put_long(0xde, count);
  }

  /// Sends `frames` beside the message; the message's bytes refer to them by number.
  void frames(const Frames& frames) {
    array(2);
    number(std::uint64_t{out_.frames.size()});
    number(std::uint64_t{frames.size()});
    out_.frames.insert(out_.frames.end(), frames.begin(), frames.end());
  }

  /// A reference to an actor; nil if it is null.
  void actor(const std::shared_ptr<void>& actor) {
    if (actor == nullptr) return nil();
    FOREBAY_CHECK(context_ != nullptr);
    text(context_->export_actor(actor));
  }

 private:
  void put(std::byte byte) {
    std::byte* to = out_.room(1);
    *to = byte;
    out_.filled_to(to + 1);
  }

  /// A mark and the lowest bytes of `value`, big-endian.
  template <class T>
  void put_sized(unsigned mark, std::uint64_t value) {
    constexpr unsigned kUnused = 64 - 8 * sizeof(T);
    const std::uint64_t swapped = __builtin_bswap64(value << kUnused);
    std::byte* to = out_.room(1 + sizeof(T));
    *to = static_cast<std::byte>(mark);
    std::memcpy(to + 1, &swapped, sizeof(T));
    out_.filled_to(to + 1 + sizeof(T));
  }

  /// `mark` and 8 bits, or the following marks and more.
  void put_length(unsigned mark, std::size_t size) {
    if (size <= 0xff) return put_sized<std::uint8_t>(mark, size);
    put_long(mark + 1, size);
  }

  /// `mark` and 16 bits, or the following mark and 32 bits.
  void put_long(unsigned mark, std::size_t size) {
    FOREBAY_CHECK(size <= 0xffffffff);
    if (size <= 0xffff) return put_sized<std::uint16_t>(mark, size);
    put_sized<std::uint32_t>(mark + 1, size);
  }

  void append(const void* data, std::size_t size) {
    if (size == 0) return;
    std::byte* to = out_.room(size);
    std::memcpy(to, data, size);
    out_.filled_to(to + size);
  }

  WireBuffer& out_;
  WireContext* context_;
};

static_assert(std::endian::native == std::endian::little);

}  // namespace forebay
