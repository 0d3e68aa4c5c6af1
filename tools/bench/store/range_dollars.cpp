#include "tools/bench/store/range_dollars.h"

#include <cstddef>
#include <utility>

namespace forebay {

Fetching fetching_by(const std::vector<Wanted>& wanted, const RangeRule& rule) {
  Fetching all;
  for (const PlannedRange& range : plan_ranges(wanted, rule)) {
    ++all.requests;
    all.bytes += range.bytes;
  }
  return all;
}

Fetching cheapest_fetching(const std::vector<Wanted>& wanted, const StorePrices& prices,
                           std::uint64_t part_bytes) {
  const auto rank = [&prices](const Fetching& one) {
    return std::pair(one.dollars(prices), one.requests);
  };
  std::vector<Fetching> best(wanted.size() + 1);  // of the first pieces
  for (std::size_t end = 1; end <= wanted.size(); ++end) {
    for (std::size_t begin = 0; begin < end; ++begin) {
      const std::uint64_t bytes = wanted[end - 1].end() - wanted[begin].offset;
      const Fetching way{.requests = best[begin].requests + (bytes + part_bytes - 1) / part_bytes,
                         .bytes = best[begin].bytes + bytes};
      if (begin == 0 || rank(way) < rank(best[end])) best[end] = way;
    }
  }
  return best.back();
}

}  // namespace forebay
