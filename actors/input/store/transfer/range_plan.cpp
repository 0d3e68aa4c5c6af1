#include "actors/input/store/transfer/range_plan.h"

#include <algorithm>
#include <cstddef>

namespace forebay {
namespace {

/// Whether neither `next` nor the pieces behind it may join the range.
bool is_past(const PlannedRange& range, const Wanted& next, const RangeRule& rule) {
  return next.offset > range.end() + rule.gap_bytes ||
         next.offset - range.offset >= rule.part_bytes;
}

}  // namespace

RangeRule rule_for(const StorageSpec& storage) {
  constexpr std::uint64_t kComesPerWait = std::uint64_t{32} << 20;
  constexpr double kBytesOfPrice = 1e9;
  constexpr double kRequestsOfPrice = 1e3;
  RangeRule rule;
  rule.gap_bytes = std::min(kComesPerWait / storage.connections, rule.part_bytes);
  if (storage.byte_price > 0) {
    const double request = storage.request_price / kRequestsOfPrice;
    const double even = request / (storage.byte_price / kBytesOfPrice);
    rule.gap_bytes =
        static_cast<std::uint64_t>(std::min(even, static_cast<double>(rule.gap_bytes)));
  }
  return rule;
}

std::vector<PlannedRange> plan_ranges(std::vector<Wanted> wanted, const RangeRule& rule) {
  std::erase_if(wanted, [](const Wanted& one) { return one.bytes == 0; });
  std::ranges::stable_sort(wanted, {}, &Wanted::offset);
  std::vector<PlannedRange> plan;
  std::vector<std::size_t> open;  // several where reads overlap, each in a chain of its own
  for (Wanted rest : wanted) {
    while (rest.bytes > 0) {
      std::erase_if(open, [&](std::size_t i) { return is_past(plan[i], rest, rule); });
      auto joined =
          std::ranges::find_if(open, [&](std::size_t i) { return rest.offset >= plan[i].end(); });
      if (joined == open.end()) {
        joined = open.insert(joined, plan.size());
        plan.push_back({.offset = rest.offset, .bytes = 0, .wanted = {}});
      }
      PlannedRange& range = plan[*joined];
      Wanted piece = rest;
      piece.bytes = std::min(rest.bytes, range.offset + rule.part_bytes - rest.offset);
      range.bytes = piece.end() - range.offset;
      range.wanted.push_back(piece);
      rest.offset += piece.bytes;
      rest.bytes -= piece.bytes;
      if (rest.out != nullptr) rest.out += piece.bytes;
    }
  }
  return plan;
}

}  // namespace forebay
