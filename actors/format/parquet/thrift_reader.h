#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay::parquet {

/// A field of a Thrift struct: its id in the .thrift file and the member that holds its value.
template <class T>
struct ThriftField {
  int id;
  T& value;
};
template <class T>
ThriftField<T> thrift_field(int id, T& value) {
  return {id, value};
}

/// Whether a struct lists its Thrift fields: `static auto fields(auto& self)`, a tuple of
/// thrift_field(). A field that is a std::optional may be absent, every other one may not.
template <class T>
concept ThriftStruct = requires(T& value) {
  T::fields(value);
};

/// Reads Thrift's compact protocol, the encoding of Parquet's metadata, from untrusted bytes
/// (thrift/doc/specs/thrift-compact-protocol.md).
///
/// Owns nothing. After the first problem nothing more is read and problem() names it. What is read
/// takes memory in proportion to the input: each element of a list has used at least one byte, and
/// a struct without its required fields is refused before the next one is made.
class ThriftReader {
 public:
  explicit ThriftReader(std::span<const char> bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  /// Reads a whole struct. Unknown fields are skipped. Returns whether the struct is sound.
  template <ThriftStruct T>
  bool read(T& out) {
    return value(Type::kStruct, out);
  }

  /// Returns the number of bytes read.
  std::size_t used() const { return static_cast<std::size_t>(at_ - begin_); }
  /// Returns what is wrong, such as "field 3 is missing"; "" while nothing is.
  const std::string& problem() const { return problem_; }
  /// Whether the only problem is that the bytes ended, so more of them may help.
  bool ended_early() const { return ended_early_; }

 private:
  enum class Type : std::uint8_t {
    kStop,
    kTrue,
    kFalse,
    kByte,
    kI16,
    kI32,
    kI64,
    kDouble,
    kBinary,
    kList,
    kSet,
    kMap,
    kStruct,
  };
  struct Header {
    int id = 0;
    Type type = Type::kStop;
  };
  static constexpr int kMostDepth = 32;

  /// Records the first problem; always returns false.
  bool refuse(std::string problem);
  /// Whether so many bytes are left; refuses where they are not.
  bool has(std::uint64_t bytes);
  bool byte(std::uint8_t& out);
  bool varint(std::uint64_t& out);
  bool zigzag(std::int64_t least, std::int64_t most, std::int64_t& out);
  /// Reads a field's header; `last` is the id of the field before it.
  bool header(int last, Header& out);
  bool list_header(Type& element, std::size_t& count);
  bool skip(Type type, int depth);
  bool skip_elements(Type key, Type element, std::size_t count, int depth);
  bool skip_map(int depth);
  bool skip_struct(int depth);

  bool value(Type type, bool& out);
  bool value(Type type, std::int32_t& out);
  bool value(Type type, std::int64_t& out);
  bool value(Type type, std::string& out);

  template <class T>
  bool value(Type type, std::optional<T>& out) {
    return value(type, out.emplace());
  }

  template <class T>
  bool value(Type type, std::vector<T>& out) {
    Type element{};
    std::size_t count = 0;
    if (type != Type::kList && type != Type::kSet) return refuse("a list was expected");
    if (!list_header(element, count)) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!value(element, out.emplace_back())) return false;
    }
    return true;
  }

  template <ThriftStruct T>
  bool value(Type type, T& out) {
    if (type != Type::kStruct) return refuse("a struct was expected");
    if (++depth_ > kMostDepth) return refuse("too many structs in one another");
    auto fields = T::fields(out);
    std::uint64_t seen = 0;
    Header next;
    while (header(next.id, next) && next.type != Type::kStop) {
      if (!read_field(next, fields, seen,
                      std::make_index_sequence<std::tuple_size_v<decltype(fields)>>()))
        return false;
    }
    --depth_;
    return problem_.empty() &&
           has_required(fields, seen,
                        std::make_index_sequence<std::tuple_size_v<decltype(fields)>>());
  }

  template <class Fields, std::size_t... I>
  bool read_field(const Header& next, Fields& fields, std::uint64_t& seen,
                  std::index_sequence<I...>) {
    bool good = true;
    const bool known =
        ((std::get<I>(fields).id == next.id && (good = value(next.type, std::get<I>(fields).value),
                                                seen |= std::uint64_t{1} << I, true)) ||
         ...);
    return known ? good : skip(next.type, depth_);
  }

  template <class Fields, std::size_t... I>
  bool has_required(Fields& fields, std::uint64_t seen, std::index_sequence<I...>) {
    return (has_required(std::get<I>(fields), (seen >> I & 1) != 0) && ...);
  }
  template <class T>
  bool has_required(ThriftField<T>& field, bool seen) {
    return seen || refuse("field " + std::to_string(field.id) + " is missing");
  }
  template <class T>
  bool has_required(ThriftField<std::optional<T>>&, bool) {
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  int depth_ = 0;
  bool ended_early_ = false;
  std::string problem_;
};

}  // namespace forebay::parquet
