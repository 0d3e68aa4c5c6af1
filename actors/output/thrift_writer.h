#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "actors/format/parquet/thrift_reader.h"
#include "core/base/varint.h"

namespace forebay::parquet {

/// Writes structs in Thrift's compact protocol, the encoding of Parquet's metadata
/// (thrift/doc/specs/thrift-compact-protocol.md); ThriftReader reads them.
///
/// Appends to a text that it borrows. A field that is an empty std::optional is left out.
class ThriftWriter {
 public:
  explicit ThriftWriter(std::string& out) : out_(out) {}

  /// Appends the whole struct. Its fields must be listed by ascending id.
  template <ThriftStruct T>
  void write(const T& value) {
    int last = 0;
    std::apply([&](const auto&... fields) { (field(fields, last), ...); }, T::fields(value));
    out_.push_back(0);
  }

 private:
  enum Type : std::uint8_t {
    kTrue = 1,
    kFalse = 2,
    kI32 = 5,
    kI64 = 6,
    kBinary = 8,
    kList = 9,
    kStruct = 12
  };

  static Type type_of(bool value) { return value ? kTrue : kFalse; }
  static Type type_of(std::int32_t) { return kI32; }
  static Type type_of(std::int64_t) { return kI64; }
  static Type type_of(const std::string&) { return kBinary; }
  template <class T>
  static Type type_of(const std::vector<T>&) {
    return kList;
  }
  template <ThriftStruct T>
  static Type type_of(const T&) {
    return kStruct;
  }

  template <class T>
  void field(const ThriftField<const T>& field, int& last) {
    header(field.id, type_of(field.value), last);
    value(field.value);
  }
  template <class T>
  void field(const ThriftField<const std::optional<T>>& field, int& last) {
    if (!field.value) return;
    header(field.id, type_of(*field.value), last);
    value(*field.value);
  }

  void header(int id, Type type, int& last) {
    if (id - last <= 15) {
      out_.push_back(static_cast<char>((id - last) << 4 | type));
    } else {
      out_.push_back(static_cast<char>(type));
      value(static_cast<std::int32_t>(id));
    }
    last = id;
  }

  void varint(std::uint64_t number) { append_varint(number, out_); }
  void value(bool) {}  // Its type says it.
  void value(std::int32_t number) { value(std::int64_t{number}); }
  void value(std::int64_t number) { varint(to_zigzag(number)); }
  void value(const std::string& text) {
    varint(text.size());
    out_ += text;
  }
  template <class T>
  void value(const std::vector<T>& list) {
    const Type type = type_of(T{});
    if (list.size() < 15) {
      out_.push_back(static_cast<char>(list.size() << 4 | type));
    } else {
      out_.push_back(static_cast<char>(0xf0 | type));
      varint(list.size());
    }
    for (const T& element : list) value(element);
  }
  template <ThriftStruct T>
  void value(const T& inner) {
    write(inner);
  }

  std::string& out_;
};

}  // namespace forebay::parquet
