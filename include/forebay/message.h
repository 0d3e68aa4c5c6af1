/// Values that Forebay's actors send each other, and how they are written as bytes.
///
/// A message is a struct with a tag, unique in the cluster, and the list of its fields:
///
///   struct Add {
///     static constexpr std::string_view kTag = "counter/add";
///     int count = 0;
///     static auto fields(auto& self) { return std::tie(self.count); }
///   };
///
/// A message that is answered names the answer's type: `using Reply = int;`. Fields may be numbers,
/// bool, enums, std::chrono::nanoseconds, std::string, std::optional, std::vector,
/// std::map<std::string, …>, references to actors (`Ref`) and to objects (`Object`), and structs
/// with a field list. Between processes a message is MessagePack: an array of its fields; a vector
/// of numbers is one bin of little-endian numbers. New fields are only ever appended: fields that
/// the sender does not know keep their defaults. Any other change needs another tag.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
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

/// What a caller can do about a failure.
enum class Code : std::uint8_t {
  kInvalid,      ///< The request is wrong; retrying it cannot help.
  kNotFound,     ///< No such actor or node.
  kUnavailable,  ///< The actor or its node is gone for now; retry.
  kOverloaded,   ///< A mailbox or a node is full; slow down, then retry.
  kTimeout,      ///< No answer in time; the request may or may not have been carried out.
  kCorrupt,      ///< Bytes that cannot be read.
};

struct Error {
  Code code = Code::kInvalid;
  std::string message;  ///< What is wrong, where, what to do.
};

/// A value or an error. Use the value only if the result is true, `error()` only if it is false.
template <class T>
class [[nodiscard]] Result {
 public:
  Result() = default;
  Result(T value) : held_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : held_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return held_.index() == 0; }
  T& operator*() { return *std::get_if<0>(&held_); }
  const T& operator*() const { return *std::get_if<0>(&held_); }
  T* operator->() { return std::get_if<0>(&held_); }
  const T* operator->() const { return std::get_if<0>(&held_); }
  const Error& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

/// Success or an error.
using Status = Result<std::monostate>;

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

template <class Fields>
inline constexpr bool kAllWritable = false;
template <class... Fields>
inline constexpr bool kAllWritable<std::tuple<Fields&...>> =
    (Writable<std::remove_const_t<Fields>> && ...);

/// The answer to an M: its `using Reply`, else nothing but success.
template <class M>
struct ReplyOfMessage {
  using Type = std::monostate;
};
template <class M>
requires requires { typename M::Reply; }
struct ReplyOfMessage<M> {
  using Type = typename M::Reply;
};
template <class M>
using ReplyOf = typename ReplyOfMessage<M>::Type;

/// Fails to compile, with the reason, unless M is a message. Always true.
template <class M>
constexpr bool check_message() {
  static_assert(std::default_initializable<M> && std::movable<M>,
                "A message must be movable and have a constructor without arguments.");
  static_assert(
      requires {
        { M::kTag } -> std::convertible_to<std::string_view>;
      },
      "A message needs a tag: static constexpr std::string_view kTag = \"folder/name\";");
  static_assert(Fielded<M>,
                "A message must list its fields: "
                "static auto fields(auto& self) { return std::tie(self.a, self.b); }");
  if constexpr (Fielded<M>) {
    static_assert(
        kAllWritable<decltype(M::fields(std::declval<M&>()))>,
        "A field of this message cannot be written: use numbers, bool, enums, "
        "nanoseconds, std::string, optional, vector, map<string, …>, Ref, Object, or structs that "
        "list their fields; or specialise forebay::actors::Field.");
  }
  static_assert(Writable<ReplyOf<M>>,
                "The Reply of this message cannot be written: see what a field may be.");
  return true;
}

/// FNV-1a: what a tag is called between processes.
constexpr std::uint64_t number_of_tag(std::string_view tag) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : tag) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return hash;
}

/// What Forebay must know of a type to hold, move, write and read its values.
struct ValueType {
  std::string_view tag;      ///< Empty: not a message but, for example, an answer.
  std::uint64_t number = 0;  ///< Of the tag.
  std::size_t size = 0;
  void (*create)(void* at) = nullptr;
  void (*move)(void* to,
               void* from) = nullptr;   ///< Ends the value at `from`. Null: copy its bytes.
  void (*destroy)(void* at) = nullptr;  ///< Null: there is nothing to do.
  std::size_t (*bytes)(const void* at) = nullptr;  ///< With what it owns elsewhere.
  void (*write)(const void* at, Writer& writer) = nullptr;
  bool (*read)(void* at, Reader& reader) = nullptr;
};

/// The bytes a value counts for in a mailbox. Overload it beside a type that owns memory in a way
/// that this function does not see.
template <class T>
std::size_t weight_of(const T&) {
  return 0;
}
inline std::size_t weight_of(const std::string& value) { return value.size(); }
template <class T>
std::size_t weight_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}
template <Fielded T>
std::size_t weight_of(const T& value) {
  return std::apply([](const auto&... field) { return (std::size_t{0} + ... + weight_of(field)); },
                    T::fields(value));
}

template <class T>
constexpr std::string_view tag_of() {
  if constexpr (requires { T::kTag; }) {
    return T::kTag;
  } else {
    return {};
  }
}

template <class T>
struct ValueCalls {
  static void create(void* at) { ::new (at) T(); }
  static void move(void* to, void* from) {
    ::new (to) T(std::move(*static_cast<T*>(from)));
    std::destroy_at(static_cast<T*>(from));
  }
  static void destroy(void* at) { std::destroy_at(static_cast<T*>(at)); }
  static std::size_t bytes(const void* at) { return weight_of(*static_cast<const T*>(at)); }
  static void write(const void* at, Writer& writer) {
    Field<T>::write(writer, *static_cast<const T*>(at));
  }
  static bool read(void* at, Reader& reader) {
    return Field<T>::read(reader, *static_cast<T*>(at));
  }

  static constexpr bool kIsBytes = std::is_trivially_copyable_v<T>;
  static constexpr ValueType kType{tag_of<T>(),
                                   number_of_tag(tag_of<T>()),
                                   sizeof(T),
                                   &create,
                                   kIsBytes ? nullptr : &move,
                                   kIsBytes ? nullptr : &destroy,
                                   &bytes,
                                   &write,
                                   &read};
};

template <class T>
inline constexpr const ValueType* kTypeOf = &ValueCalls<T>::kType;

/// One value of any type: in place if it is small, else on the heap. Move-only.
class Box {
 public:
  Box() = default;
  /// A value made by its constructor without arguments.
  explicit Box(const ValueType* type) : type_(type) { type->create(allocate()); }
  Box(Box&& other) noexcept { take(other); }
  Box& operator=(Box&& other) noexcept {
    if (this != &other) {
      clear();
      take(other);
    }
    return *this;
  }
  ~Box() { clear(); }

  template <class T>
  static Box of(T value) {
    static_assert(alignof(T) <= kAlignment, "A message must not be over-aligned.");
    Box box;
    box.type_ = kTypeOf<T>;
    ::new (box.allocate()) T(std::move(value));
    return box;
  }

  /// Null if the box is empty.
  const ValueType* type() const { return type_; }
  void* data() { return in_place() ? static_cast<void*>(held_.data()) : heap(); }
  const void* data() const { return in_place() ? static_cast<const void*>(held_.data()) : heap(); }

  /// Only if the value is a T.
  template <class T>
  T& as() {
    return *static_cast<T*>(data());
  }

 private:
  static constexpr std::size_t kInPlace = 40;
  static constexpr std::size_t kAlignment = alignof(void*);

  bool in_place() const { return type_->size <= kInPlace; }
  void* heap() const {
    void* at = nullptr;
    std::memcpy(&at, held_.data(), sizeof(at));
    return at;
  }
  void* allocate() {
    if (in_place()) return held_.data();
    void* at = ::operator new(type_->size);
    std::memcpy(held_.data(), &at, sizeof(at));
    return at;
  }
  void take(Box& other) noexcept {
    type_ = std::exchange(other.type_, nullptr);
    if (type_ == nullptr) return;
    if (in_place() && type_->move != nullptr) {
      type_->move(held_.data(), other.held_.data());
    } else {
      held_ = other.held_;
    }
  }
  void clear() {
    if (type_ == nullptr) return;
    if (type_->destroy != nullptr) type_->destroy(data());
    if (!in_place()) ::operator delete(heap());
    type_ = nullptr;
  }

  const ValueType* type_ = nullptr;
  alignas(kAlignment) std::array<std::byte, kInPlace> held_;
};

}  // namespace forebay::actors
