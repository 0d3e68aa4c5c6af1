#include "scheduler/range_set.h"

#include <algorithm>
#include <iterator>

namespace forebay::scheduler {

std::uint64_t RangeSet::add(std::uint64_t first, std::uint64_t last) {
  if (last < first) return 0;
  std::uint64_t known = 0;
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin()) {
    const auto before = std::prev(at);
    if (before->second >= last) return 0;
    if (before->second + 1 >= first) at = before;
  }
  std::uint64_t begin = first;
  std::uint64_t end = last;
  while (at != ranges_.end() && (at->first <= last || at->first - last == 1)) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    known += at->second - at->first + 1;
    at = ranges_.erase(at);
  }
  ranges_.emplace_hint(at, begin, end);
  const std::uint64_t added = end - begin + 1 - known;
  size_ += added;
  return added;
}

bool RangeSet::contains(std::uint64_t number) const {
  const auto after = ranges_.upper_bound(number);
  return after != ranges_.begin() && std::prev(after)->second >= number;
}

std::uint64_t RangeSet::lowest_missing() const {
  if (ranges_.empty() || ranges_.begin()->first > 0) return 0;
  return ranges_.begin()->second + 1;
}

std::vector<SplitRange> RangeSet::ahead() const {
  std::vector<SplitRange> ahead;
  ahead.reserve(ranges_.size());
  for (const auto& [first, last] : ranges_) {
    if (first > 0) ahead.push_back({first, last});
  }
  return ahead;
}

std::vector<std::uint64_t> RangeSet::packed() const {
  std::vector<std::uint64_t> packed;
  packed.reserve(2 * ranges_.size());
  std::uint64_t end = 0;
  for (const auto& [first, last] : ranges_) {
    packed.push_back(first - end);
    packed.push_back(last - first);
    end = last;
  }
  return packed;
}

Result<RangeSet> RangeSet::unpack(const std::vector<std::uint64_t>& packed) {
  RangeSet set;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i + 1 < packed.size(); i += 2) {
    const std::uint64_t first = end + packed[i];
    const std::uint64_t last = first + packed[i + 1];
    const bool fits = (i == 0 || packed[i] > 1) && first >= end && last >= first;
    if (!fits) return fail(Code::kCorrupt, "its ranges of splits make no sense");
    set.ranges_.emplace_hint(set.ranges_.end(), first, last);
    set.size_ += last - first + 1;
    end = last;
  }
  return set;
}

}  // namespace forebay::scheduler
