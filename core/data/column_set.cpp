#include "core/data/column_set.h"

#include <cstring>

namespace forebay {

std::uint64_t bits_of(const std::int64_t* ids, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(ids[i]);
  return bits;
}

std::uint64_t narrow_ids(const std::int64_t* ids, std::size_t count, IdWidth width, std::byte* to) {
  return with_width(static_cast<std::size_t>(width), [&]<class T>(T narrow) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      narrow = static_cast<T>(ids[i]);
      bits |= static_cast<std::uint64_t>(ids[i]);
      std::memcpy(to + i * sizeof(T), &narrow, sizeof(T));
    }
    return bits;
  });
}

void widen_ids(const std::byte* from, IdWidth width, std::size_t count, std::int64_t* to) {
  with_width(static_cast<std::size_t>(width), [&]<class T>(T narrow) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&narrow, from + i * sizeof(T), sizeof(T));
      to[i] = static_cast<std::int64_t>(narrow);
    }
  });
}

std::size_t ColumnSet::bytes() const {
  std::size_t total = packed ? packed->held_bytes : 0;
  for (const Buffer& slab : slabs) total += slab.size();
  for (const RepeatedColumns& group : repeated) {
    for (const auto& set : group.sets) total += set.use_count() == 1 ? set->bytes() : 0;
  }
  return total;
}

}  // namespace forebay
