#include "actors/format/format.h"

#include <numeric>

namespace forebay {

std::uint64_t UnitRead::bytes() const {
  return std::accumulate(
      ranges.begin(), ranges.end(), std::uint64_t{head.size()},
      [](std::uint64_t sum, const FileRange& range) { return sum + range.bytes; });
}

}  // namespace forebay
