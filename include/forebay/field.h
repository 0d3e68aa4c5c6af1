/// How the values that Forebay's actors send each other are written as bytes; see message.h.
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace forebay::actors {

class Target;
/// Keeps what a reference points to alive; the actor behind it may have ended.
using TargetPtr = std::shared_ptr<Target>;

class ObjectTarget;
/// A counted reference to an object; see object.h.
using ObjectPtr = std::shared_ptr<ObjectTarget>;

/// Takes a value apart. Forebay implements it.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void nil() = 0;
  virtual void boolean(bool value) = 0;
  virtual void natural(std::uint64_t value) = 0;
  virtual void integer(std::int64_t value) = 0;
  virtual void single(float value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void bytes(std::span<const std::byte> value) = 0;
  virtual void array(std::size_t count) = 0;
  virtual void map(std::size_t count) = 0;
  virtual void actor(const TargetPtr& target) = 0;
  virtual void object(const ObjectPtr& target) = 0;
};

/// Puts a value together from bytes that nobody has checked. Each call returns whether it read a
/// value of that kind; after a false no other call follows. Forebay implements it.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Skips a nil if it is next.
  virtual bool take_nil() = 0;
  virtual bool boolean(bool& value) = 0;
  virtual bool natural(std::uint64_t& value) = 0;
  virtual bool integer(std::int64_t& value) = 0;
  virtual bool single(float& value) = 0;
  virtual bool real(double& value) = 0;
  virtual bool text(std::string_view& value) = 0;
  virtual bool bytes(std::span<const std::byte>& value) = 0;
  /// A count is read only if so many bytes follow.
  virtual bool array(std::size_t& count) = 0;
  virtual bool map(std::size_t& count) = 0;
  virtual bool actor(TargetPtr& target) = 0;
  virtual bool object(ObjectPtr& target) = 0;
  /// Skips one value of any kind.
  virtual bool skip() = 0;
  /// Records what is wrong; returns false.
  virtual bool refuse(std::string_view problem) = 0;
};

/// A struct that lists its fields.
template <class T>
concept Fielded = requires(T& value) {
  T::fields(value);
};

/// How a type is written and read. Specialise it for a type of your own that has no field list.
template <class T>
struct Field;

template <class T>
concept Writable = requires(Writer& writer, Reader& reader, T& value) {
  Field<T>::write(writer, std::as_const(value));
  { Field<T>::read(reader, value) } -> std::same_as<bool>;
};

template <>
struct Field<std::monostate> {
  static void write(Writer& writer, const std::monostate&) { writer.nil(); }
  static bool read(Reader& reader, std::monostate&) {
    return reader.take_nil() || reader.refuse("should be nil");
  }
};

template <>
struct Field<bool> {
  static void write(Writer& writer, bool value) { writer.boolean(value); }
  static bool read(Reader& reader, bool& value) { return reader.boolean(value); }
};

template <std::integral T>
struct Field<T> {
  static void write(Writer& writer, T value) {
    if constexpr (std::signed_integral<T>) {
      writer.integer(value);
    } else {
      writer.natural(value);
    }
  }
  static bool read(Reader& reader, T& value) {
    std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t> wide = 0;
    if constexpr (std::signed_integral<T>) {
      if (!reader.integer(wide)) return false;
    } else {
      if (!reader.natural(wide)) return false;
    }
    if (!std::in_range<T>(wide)) return reader.refuse("is out of range");
    value = static_cast<T>(wide);
    return true;
  }
};

template <>
struct Field<float> {
  static void write(Writer& writer, float value) { writer.single(value); }
  static bool read(Reader& reader, float& value) { return reader.single(value); }
};

template <>
struct Field<double> {
  static void write(Writer& writer, double value) { writer.real(value); }
  static bool read(Reader& reader, double& value) { return reader.real(value); }
};

/// As its number; a number without a name here is kept.
template <class T>
requires std::is_enum_v<T>
struct Field<T> {
  using Number = std::underlying_type_t<T>;
  static void write(Writer& writer, T value) {
    Field<Number>::write(writer, static_cast<Number>(value));
  }
  static bool read(Reader& reader, T& value) {
    Number number{};
    if (!Field<Number>::read(reader, number)) return false;
    value = static_cast<T>(number);
    return true;
  }
};

template <>
struct Field<std::chrono::nanoseconds> {
  static void write(Writer& writer, std::chrono::nanoseconds value) {
    writer.integer(value.count());
  }
  static bool read(Reader& reader, std::chrono::nanoseconds& value) {
    std::int64_t count = 0;
    if (!reader.integer(count)) return false;
    value = std::chrono::nanoseconds(count);
    return true;
  }
};

template <>
struct Field<std::string> {
  static void write(Writer& writer, const std::string& value) { writer.text(value); }
  static bool read(Reader& reader, std::string& value) {
    std::string_view text;
    if (!reader.text(text)) return false;
    value = text;
    return true;
  }
};

/// A vector of these is one bin.
template <class T>
concept Plain = (std::is_arithmetic_v<T> && !std::same_as<T, bool>) || std::same_as<T, std::byte>;

template <Plain T>
struct Field<std::vector<T>> {
  static_assert(std::endian::native == std::endian::little);

  static void write(Writer& writer, const std::vector<T>& values) {
    writer.bytes(std::as_bytes(std::span(values)));
  }
  static bool read(Reader& reader, std::vector<T>& values) {
    std::span<const std::byte> bytes;
    if (!reader.bytes(bytes)) return false;
    if (bytes.size() % sizeof(T) != 0) return reader.refuse("has a part of a number");
    values.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return true;
  }
};

template <class T>
requires(!Plain<T> && Writable<T>) struct Field<std::vector<T>> {
  static void write(Writer& writer, const std::vector<T>& values) {
    writer.array(values.size());
    for (const T& value : values) Field<T>::write(writer, value);
  }
  static bool read(Reader& reader, std::vector<T>& values) {
    std::size_t count = 0;
    if (!reader.array(count)) return false;
    values.clear();
    for (std::size_t i = 0; i < count; ++i) {
      T value{};
      if (!Field<T>::read(reader, value)) return false;
      values.push_back(std::move(value));
    }
    return true;
  }
};

template <Writable T>
struct Field<std::optional<T>> {
  static void write(Writer& writer, const std::optional<T>& value) {
    if (!value) return writer.nil();
    Field<T>::write(writer, *value);
  }
  static bool read(Reader& reader, std::optional<T>& value) {
    value.reset();
    return reader.take_nil() || Field<T>::read(reader, value.emplace());
  }
};

template <Writable T>
struct Field<std::map<std::string, T>> {
  static void write(Writer& writer, const std::map<std::string, T>& values) {
    writer.map(values.size());
    for (const auto& [key, value] : values) {
      writer.text(key);
      Field<T>::write(writer, value);
    }
  }
  static bool read(Reader& reader, std::map<std::string, T>& values) {
    std::size_t count = 0;
    if (!reader.map(count)) return false;
    values.clear();
    for (std::size_t i = 0; i < count; ++i) {
      std::string_view key;
      T value{};
      if (!reader.text(key) || !Field<T>::read(reader, value)) return false;
      if (!values.emplace(key, std::move(value)).second) return reader.refuse("has a key twice");
    }
    return true;
  }
};

/// The fields of a std::tie, as an array.
template <class... Fields>
void write_fields(Writer& writer, const std::tuple<Fields&...>& fields) {
  writer.array(sizeof...(Fields));
  std::apply(
      [&](auto&... field) { (Field<std::remove_const_t<Fields>>::write(writer, field), ...); },
      fields);
}

template <class... Fields>
bool read_fields(Reader& reader, const std::tuple<Fields&...>& fields) {
  std::size_t count = 0;
  if (!reader.array(count)) return false;
  std::size_t index = 0;
  const auto one = [&](auto& field) {
    if (index == count) return true;
    ++index;
    return Field<std::remove_reference_t<decltype(field)>>::read(reader, field);
  };
  if (!std::apply([&](auto&... field) { return (one(field) && ...); }, fields)) return false;
  for (; index < count; ++index) {
    if (!reader.skip()) return false;
  }
  return true;
}

template <Fielded T>
struct Field<T> {
  static void write(Writer& writer, const T& value) { write_fields(writer, T::fields(value)); }
  static bool read(Reader& reader, T& value) { return read_fields(reader, T::fields(value)); }
};

}  // namespace forebay::actors
