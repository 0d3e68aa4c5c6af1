#include "core/data/narrow_ids.h"

#include <cstring>

namespace forebay {
namespace {

template <class T>
std::uint64_t narrow_to(const std::int64_t* ids, std::size_t count, std::byte* to) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto narrow = static_cast<T>(ids[i]);
    bits |= static_cast<std::uint64_t>(ids[i]);
    std::memcpy(to + i * sizeof(T), &narrow, sizeof(T));
  }
  return bits;
}

template <class T>
void widen_from(const std::byte* from, std::size_t count, std::int64_t* to) {
  for (std::size_t i = 0; i < count; ++i) {
    T narrow;
    std::memcpy(&narrow, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<std::int64_t>(narrow);
  }
}

}  // namespace

std::uint64_t bits_of(const std::int64_t* ids, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(ids[i]);
  return bits;
}

std::uint64_t narrow_ids(const std::int64_t* ids, std::size_t count, IdWidth width, std::byte* to) {
  switch (width) {
    case IdWidth::k1:
      return narrow_to<std::uint8_t>(ids, count, to);
    case IdWidth::k2:
      return narrow_to<std::uint16_t>(ids, count, to);
    case IdWidth::k4:
      return narrow_to<std::uint32_t>(ids, count, to);
    case IdWidth::k8:
      break;
  }
  return narrow_to<std::uint64_t>(ids, count, to);
}

void widen_ids(const std::byte* from, IdWidth width, std::size_t count, std::int64_t* to) {
  switch (width) {
    case IdWidth::k1:
      return widen_from<std::uint8_t>(from, count, to);
    case IdWidth::k2:
      return widen_from<std::uint16_t>(from, count, to);
    case IdWidth::k4:
      return widen_from<std::uint32_t>(from, count, to);
    case IdWidth::k8:
      break;
  }
  if (count > 0) std::memcpy(to, from, count * sizeof(std::int64_t));
}

}  // namespace forebay
