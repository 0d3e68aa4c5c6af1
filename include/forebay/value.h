/// How Forebay holds and moves a value of any type; see message.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <forebay/field.h>

namespace forebay::actors {

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
