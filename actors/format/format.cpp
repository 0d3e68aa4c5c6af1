#include "actors/format/format.h"

#include <numeric>

namespace forebay {

std::vector<RepeatCount> store_repeated(Decoded& decoded, const Schema& schema, BufferPool& pool) {
  std::vector<RepeatCount> counts;
  if (!decoded.columns.repeated.empty()) {
    for (const RepeatedColumns& group : decoded.columns.repeated)
      counts.push_back(count_repeats(group, decoded.columns.rows));
    return counts;
  }
  for (std::size_t i = 0; i < schema.repeated.size(); ++i) {
    const FeatureGroup& group = schema.repeated[i];
    if (decoded.stored.empty()) {
      const auto rows = rows_that_differ(decoded.columns, group);
      counts.push_back(store_once(decoded.columns, group, rows, pool));
    } else {
      counts.push_back(store_once(decoded.columns, group, decoded.stored[i], pool));
    }
  }
  return counts;
}

std::uint64_t UnitRead::bytes() const {
  return std::accumulate(
      ranges.begin(), ranges.end(), std::uint64_t{head.size()},
      [](std::uint64_t sum, const FileRange& range) { return sum + range.bytes; });
}

}  // namespace forebay
