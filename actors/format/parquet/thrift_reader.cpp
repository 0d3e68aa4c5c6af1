#include "actors/format/parquet/thrift_reader.h"

#include <limits>

#include "core/base/varint.h"

namespace forebay::parquet {

bool ThriftReader::refuse(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
  return false;
}

bool ThriftReader::has(std::uint64_t bytes) {
  if (bytes <= static_cast<std::size_t>(end_ - at_)) return true;
  ended_early_ = problem_.empty();
  return refuse("ends early");
}

bool ThriftReader::byte(std::uint8_t& out) {
  if (!has(1)) return false;
  out = static_cast<std::uint8_t>(*at_++);
  return true;
}

bool ThriftReader::varint(std::uint64_t& out) {
  const char* const begin = at_;
  if (read_varint(at_, end_, out)) return true;
  return at_ == end_ && at_ - begin < 10 ? has(1) : refuse("a number of more than 64 bits");
}

bool ThriftReader::zigzag(std::int64_t least, std::int64_t most, std::int64_t& out) {
  std::uint64_t coded = 0;
  if (!varint(coded)) return false;
  out = from_zigzag(coded);
  return (least <= out && out <= most) || refuse("a number is too large for its field");
}

bool ThriftReader::header(int last, Header& out) {
  std::uint8_t first = 0;
  if (!byte(first)) return false;
  if ((first & 0x0f) > static_cast<int>(Type::kStruct)) return refuse("an unknown type of field");
  out.type = static_cast<Type>(first & 0x0f);
  if (out.type == Type::kStop) return true;
  std::int64_t id = last + (first >> 4);
  if (first >> 4 == 0 && !zigzag(0, std::numeric_limits<std::int16_t>::max(), id)) return false;
  out.id = static_cast<int>(id);
  return true;
}

bool ThriftReader::list_header(Type& element, std::size_t& count) {
  std::uint8_t first = 0;
  if (!byte(first)) return false;
  if ((first & 0x0f) > static_cast<int>(Type::kStruct)) return refuse("an unknown type of element");
  element = static_cast<Type>(first & 0x0f);
  std::uint64_t size = first >> 4;
  if (size == 15 && !varint(size)) return false;
  count = size;
  return has(size);  // each element has at least one byte
}

bool ThriftReader::skip_elements(Type key, Type element, std::size_t count, int depth) {
  // A bool is a byte in a list, and no byte at all in a struct.
  const auto of = [](Type type) {
    return type == Type::kFalse || type == Type::kTrue ? Type::kByte : type;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (key != Type::kStop && !skip(of(key), depth)) return false;
    if (!skip(of(element), depth)) return false;
  }
  return true;
}

bool ThriftReader::skip_map(int depth) {
  std::uint64_t size = 0;
  std::uint8_t types = 0;
  if (!varint(size)) return false;
  if (size == 0) return true;  // then the types are left out
  if (!byte(types) || !has(size)) return false;
  return skip_elements(static_cast<Type>(types >> 4), static_cast<Type>(types & 0x0f), size, depth);
}

bool ThriftReader::skip_struct(int depth) {
  Header next;
  while (header(next.id, next)) {
    if (next.type == Type::kStop) return true;
    if (!skip(next.type, depth)) return false;
  }
  return false;
}

bool ThriftReader::skip(Type type, int depth) {
  std::uint64_t size = 0;
  std::size_t count = 0;
  std::uint8_t small = 0;
  Type element{};
  if (depth >= kMostDepth) return refuse("too many structs in one another");
  switch (type) {
    case Type::kTrue:
    case Type::kFalse:
      return true;
    case Type::kByte:
      return byte(small);
    case Type::kI16:
    case Type::kI32:
    case Type::kI64:
      return varint(size);
    case Type::kDouble:
    case Type::kBinary:
      size = 8;
      if ((type == Type::kBinary && !varint(size)) || !has(size)) return false;
      at_ += size;
      return true;
    case Type::kList:
    case Type::kSet:
      return list_header(element, count) && skip_elements(Type::kStop, element, count, depth + 1);
    case Type::kMap:
      return skip_map(depth + 1);
    case Type::kStruct:
      return skip_struct(depth + 1);
    case Type::kStop:
      break;
  }
  return refuse("an unknown type of field");
}

bool ThriftReader::value(Type type, bool& out) {
  if (type != Type::kTrue && type != Type::kFalse) return refuse("a bool was expected");
  out = type == Type::kTrue;
  return true;
}

bool ThriftReader::value(Type type, std::int32_t& out) {
  std::int64_t wide = 0;
  if (type == Type::kByte) {
    std::uint8_t small = 0;
    if (!byte(small)) return false;
    out = (small ^ 0x80) - 0x80;  // the byte is signed
    return true;
  }
  if (type != Type::kI32 && type != Type::kI16) return refuse("a 32-bit integer was expected");
  using Limits = std::numeric_limits<std::int32_t>;
  if (!zigzag(Limits::min(), Limits::max(), wide)) return false;
  out = static_cast<std::int32_t>(wide);
  return true;
}

bool ThriftReader::value(Type type, std::int64_t& out) {
  if (type != Type::kI64) return refuse("a 64-bit integer was expected");
  using Limits = std::numeric_limits<std::int64_t>;
  return zigzag(Limits::min(), Limits::max(), out);
}

bool ThriftReader::value(Type type, std::string& out) {
  std::uint64_t size = 0;
  if (type != Type::kBinary) return refuse("a string was expected");
  if (!varint(size) || !has(size)) return false;
  out.assign(at_, size);
  at_ += size;
  return true;
}

}  // namespace forebay::parquet
