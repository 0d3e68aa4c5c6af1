#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/wire/decoder.h"
#include "core/wire/encoder.h"

namespace forebay {

/// A struct that lists its fields: `static auto fields(auto& self) { return std::tie(…); }`.
template <class T>
concept Fielded = requires(T& value) {
  T::fields(value);
};

/// How a type is encoded: `write` appends a value; `read` fills a default-constructed value or
/// returns false. Specialise it for types that the codec does not know, as core/node does for
/// references to actors.
template <class T>
struct WireField;

template <class T>
void write_field(Encoder& encoder, const T& value) {
  WireField<T>::write(encoder, value);
}

template <class T>
bool read_field(Decoder& decoder, T& value) {
  return WireField<T>::read(decoder, value);
}

template <>
struct WireField<bool> {
  static void write(Encoder& encoder, bool value) { encoder.boolean(value); }
  static bool read(Decoder& decoder, bool& value) { return decoder.boolean(value); }
};

template <std::integral T>
struct WireField<T> {
  using Wide = std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>;
  static void write(Encoder& encoder, T value) { encoder.number(Wide{value}); }
  static bool read(Decoder& decoder, T& value) {
    Wide wide = 0;
    if (!decoder.number(wide)) return false;
    if (!std::in_range<T>(wide)) return decoder.refuse("is out of range");
    value = static_cast<T>(wide);
    return true;
  }
};

template <std::floating_point T>
struct WireField<T> {
  static void write(Encoder& encoder, T value) { encoder.number(value); }
  static bool read(Decoder& decoder, T& value) { return decoder.number(value); }
};

/// Enums travel as their underlying number. A number without a name here is kept, since the sender
/// may be newer.
template <class T>
requires std::is_enum_v<T>
struct WireField<T> {
  using Number = std::underlying_type_t<T>;
  static void write(Encoder& encoder, T value) { write_field(encoder, static_cast<Number>(value)); }
  static bool read(Decoder& decoder, T& value) {
    Number number{};
    if (!read_field(decoder, number)) return false;
    value = static_cast<T>(number);
    return true;
  }
};

template <>
struct WireField<std::chrono::nanoseconds> {
  static void write(Encoder& encoder, std::chrono::nanoseconds value) {
    encoder.number(std::int64_t{value.count()});
  }
  static bool read(Decoder& decoder, std::chrono::nanoseconds& value) {
    std::int64_t count = 0;
    if (!decoder.number(count)) return false;
    value = std::chrono::nanoseconds(count);
    return true;
  }
};

template <>
struct WireField<std::string> {
  static void write(Encoder& encoder, const std::string& value) { encoder.text(value); }
  static bool read(Decoder& decoder, std::string& value) {
    std::string_view text;
    if (!decoder.text(text)) return false;
    value = text;
    return true;
  }
};

template <>
struct WireField<std::vector<std::byte>> {
  static void write(Encoder& encoder, const std::vector<std::byte>& value) { encoder.bytes(value); }
  static bool read(Decoder& decoder, std::vector<std::byte>& value) {
    std::span<const std::byte> bytes;
    if (!decoder.bytes(bytes)) return false;
    value.assign(bytes.begin(), bytes.end());
    return true;
  }
};

template <class T>
struct WireField<std::vector<T>> {
  static void write(Encoder& encoder, const std::vector<T>& values) {
    encoder.array(values.size());
    for (const T& value : values) write_field(encoder, value);
  }
  static bool read(Decoder& decoder, std::vector<T>& values) {
    std::size_t count = 0;
    if (!decoder.array(count)) return false;
    values.clear();
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      T value{};
      if (!read_field(decoder, value)) return decoder.in_field(i);
      values.push_back(std::move(value));
    }
    return true;
  }
};

template <class T>
struct WireField<std::optional<T>> {
  static void write(Encoder& encoder, const std::optional<T>& value) {
    if (!value) return encoder.nil();
    write_field(encoder, *value);
  }
  static bool read(Decoder& decoder, std::optional<T>& value) {
    value.reset();
    return decoder.take_nil() || read_field(decoder, value.emplace());
  }
};

template <class T>
struct WireField<std::map<std::string, T>> {
  static void write(Encoder& encoder, const std::map<std::string, T>& values) {
    encoder.map(values.size());
    for (const auto& [key, value] : values) {
      encoder.text(key);
      write_field(encoder, value);
    }
  }
  static bool read(Decoder& decoder, std::map<std::string, T>& values) {
    std::size_t count = 0;
    if (!decoder.map(count)) return false;
    values.clear();
    for (std::size_t i = 0; i < count; ++i) {
      std::string_view key;
      T value{};
      if (!decoder.text(key) || !read_field(decoder, value)) return decoder.in_field(i);
      if (!values.emplace(key, std::move(value)).second) return decoder.refuse("has a key twice");
    }
    return true;
  }
};

template <>
struct WireField<Frames> {
  static void write(Encoder& encoder, const Frames& frames) { encoder.frames(frames); }
  static bool read(Decoder& decoder, Frames& frames) { return decoder.frames(frames); }
};

/// Writes the fields of a std::tie as an array.
template <class... Fields>
void write_fields(Encoder& encoder, const std::tuple<Fields&...>& fields) {
  encoder.array(sizeof...(Fields));
  std::apply([&](const auto&... field) { (write_field(encoder, field), ...); }, fields);
}

/// Reads the fields. Fields that the sender does not know keep their defaults, and fields that the
/// receiver does not know are skipped: new fields are only ever appended.
template <class... Fields>
bool read_fields(Decoder& decoder, const std::tuple<Fields&...>& fields) {
  std::size_t count = 0;
  if (!decoder.array(count)) return false;
  std::size_t index = 0;
  const auto one = [&](auto& field) {
    if (index == count) return true;
    if (!read_field(decoder, field)) return decoder.in_field(index);
    ++index;
    return true;
  };
  if (!std::apply([&](auto&... field) { return (one(field) && ...); }, fields)) return false;
  for (; index < count; ++index) {
    if (!decoder.skip()) return decoder.in_field(index);
  }
  return true;
}

template <Fielded T>
struct WireField<T> {
  static void write(Encoder& encoder, const T& value) { write_fields(encoder, T::fields(value)); }
  static bool read(Decoder& decoder, T& value) { return read_fields(decoder, T::fields(value)); }
};

template <>
struct WireField<Error> {
  static void write(Encoder& encoder, const Error& error) {
    encoder.array(2);
    write_field(encoder, error.code);
    encoder.text(error.message);
  }
  static bool read(Decoder& decoder, Error& error) {
    std::size_t count = 0;
    if (!decoder.array(count)) return false;
    if (count != 2) return decoder.refuse("is no error");
    if (!read_field(decoder, error.code) || !read_field(decoder, error.message)) return false;
    return error.code <= Code::kCorrupt || decoder.refuse("has an unknown code");
  }
};

/// An array of the value alone, or of nil and the Error. Success without a value: an empty array.
template <class T>
struct WireField<Result<T>> {
  static void write(Encoder& encoder, const Result<T>& result) {
    if (!result) {
      encoder.array(2);
      encoder.nil();
      return write_field(encoder, result.error());
    }
    if constexpr (std::is_void_v<T>) {
      encoder.array(0);
    } else {
      encoder.array(1);
      write_field(encoder, *result);
    }
  }

  static bool read(Decoder& decoder, Result<T>& result) {
    std::size_t count = 0;
    if (!decoder.array(count)) return false;
    if (count == 2) {
      Error error;
      if (!decoder.take_nil()) return decoder.refuse("is no answer");
      if (!read_field(decoder, error)) return false;
      result = tl::unexpected<Error>(std::move(error));
      return true;
    }
    if constexpr (std::is_void_v<T>) {
      result = {};
      return count == 0 || decoder.refuse("is no answer");
    } else {
      if (count != 1) return decoder.refuse("is no answer");
      result = T{};
      return read_field(decoder, *result);
    }
  }
};

/// Appends `value` to `out`.
template <class T>
void encode_value(const T& value, WireBuffer& out, WireContext* context = nullptr) {
  Encoder encoder(out, context);
  write_field(encoder, value);
}

/// Decodes a T that must fill all of `bytes`. On failure returns kCorrupt, which names the message
/// by `what`. `frames` were received with the message; the frames that the value holds are moved
/// out of it.
template <class T>
Result<T> decode_value(std::string_view what, std::span<const std::byte> bytes,
                       std::span<Frame> frames = {}, WireContext* context = nullptr) {
  Decoder decoder(bytes, frames, context);
  T value{};
  if (!read_field(decoder, value)) return tl::unexpected<Error>(decoder.error(what));
  if (!decoder.at_end()) {
    decoder.refuse("something follows its end");
    return tl::unexpected<Error>(decoder.error(what));
  }
  return value;
}

}  // namespace forebay
