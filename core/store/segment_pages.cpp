#include "core/store/segment_pages.h"

#include <algorithm>
#include <cstring>

namespace forebay {

Status check_page(const RowLogPlan& plan, const OpenSegment& segment, std::uint64_t number,
                  const ReadPage& page) {
  if (page.bytes < 0) {
    return fail(Code::kUnavailable, segment.path + " cannot be read (" +
                                        std::strerror(static_cast<int>(-page.bytes)) + ")");
  }
  const bool whole = page.bytes == static_cast<std::int64_t>(plan.shape.page_bytes);
  if (whole &&
      RowPage(plan.shape, page.memory).intact(RowSegment::where(segment.sequence, number))) {
    return {};
  }
  return fail(Code::kCorrupt,
              segment.path + " is damaged: page " + std::to_string(number) + " has changed");
}

Status for_each_page(const RowLogPlan& plan, const OpenSegment& segment, const DirectMemory& memory,
                     const std::function<Status(std::uint64_t, const RowPage&)>& visit) {
  const std::size_t page_bytes = plan.shape.page_bytes;
  const std::uint64_t at_once = memory.size() / page_bytes;
  for (std::uint64_t first = 0; first < segment.pages; first += at_once) {
    const std::uint64_t count = std::min(at_once, segment.pages - first);
    std::int64_t left =
        read_piece({segment.file.number(), first * page_bytes}, memory.data(), count * page_bytes);
    for (std::uint64_t page = 0; page < count; ++page) {
      char* at = memory.data() + page * page_bytes;
      const std::int64_t bytes =
          left < 0 ? left : std::min(left, static_cast<std::int64_t>(page_bytes));
      if (left > 0) left -= bytes;
      if (auto good = check_page(plan, segment, first + page, {at, bytes}); !good) return good;
      if (auto visited = visit(first + page, RowPage(plan.shape, at)); !visited) return visited;
    }
  }
  return {};
}

}  // namespace forebay
