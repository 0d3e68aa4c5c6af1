#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <msgpack.hpp>

#include "core/base/check.h"
#include "core/net/curve_keys.h"
#include "core/wire/codec.h"

namespace {

using namespace forebay;  // NOLINT(google-build-using-namespace)

struct Inner {
  std::int32_t number = 0;
  std::optional<double> maybe;
  static auto fields(auto& self) { return std::tie(self.number, self.maybe); }
};

/// One field of every kind.
struct Message {
  static constexpr std::string_view kTag = "fuzz.message/1";
  bool flag = false;
  std::uint8_t small = 0;
  std::uint64_t count = 0;
  std::int64_t offset = 0;
  float share = 0;
  std::chrono::nanoseconds time{};
  std::string text;
  std::vector<std::byte> bytes;
  std::vector<Inner> inner;
  std::map<std::string, std::vector<std::uint64_t>> table;
  Frames frames;
  Result<Inner> answer = fail(Code::kTimeout, "none");
  Status status;
  static auto fields(auto& self) {
    return std::tie(self.flag, self.small, self.count, self.offset, self.share, self.time,
                    self.text, self.bytes, self.inner, self.table, self.frames, self.answer,
                    self.status);
  }
};

Frames three_frames() { return Frames(3); }

std::string encoded(const Message& message) {
  WireBuffer buffer;
  encode_value(message, buffer);
  return {reinterpret_cast<const char*>(buffer.bytes().data()), buffer.size()};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Letters that ZeroMQ's RFC 32 allows in a key.
bool is_z85(char letter) {
  constexpr std::string_view kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  return kLetters.find(letter) != std::string_view::npos;
}

/// A key file's text is a key only where each of its 40 letters is one of Z85's.
void check_key(std::string_view text) {
  const auto key = key_in(text);
  if (!key) return;
  FOREBAY_CHECK(key->size() == 40 && text.starts_with(*key) && text.size() <= 41);
  for (const char letter : *key) FOREBAY_CHECK(is_z85(letter));
}

}  // namespace

/// msgpack-c accepts every message that decode accepts; encoded again, it reads back the same, and
/// in one form only.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  check_key({reinterpret_cast<const char*>(data), size});
  Frames frames = three_frames();
  const auto message = decode_value<Message>(Message::kTag, input, frames);
  if (!message) {
    FOREBAY_CHECK(message.error().code == Code::kCorrupt);
    return 0;
  }
  std::size_t offset = 0;
  const auto limit = msgpack::unpack_limit(size, size, size, size, size, size + 1);
  (void)msgpack::unpack(reinterpret_cast<const char*>(data), size, offset, nullptr, nullptr, limit);
  FOREBAY_CHECK(offset == size);

  const std::string once = encoded(*message);
  Frames again = three_frames();
  const auto back = decode_value<Message>(Message::kTag, bytes_of(once), again);
  FOREBAY_CHECK(back.has_value());
  FOREBAY_CHECK(encoded(*back) == once);
  return 0;
}
