#pragma once

#include <cstdint>
#include <functional>

#include "core/base/result.h"
#include "core/store/segment_index.h"

namespace forebay {

/// A page as read from disk.
struct ReadPage {
  char* memory = nullptr;
  std::int64_t bytes = 0;  ///< Bytes read, or -errno.
};

/// kUnavailable if the disk could not read the page, kCorrupt if its content is not as written;
/// both name the file.
Status check_page(const RowLogPlan& plan, const OpenSegment& segment, std::uint64_t number,
                  const ReadPage& page);

/// Reads a segment from start to end, in pieces of the size of `memory`. Stops at the first error.
Status for_each_page(const RowLogPlan& plan, const OpenSegment& segment, const DirectMemory& memory,
                     const std::function<Status(std::uint64_t number, const RowPage& rows)>& visit);

}  // namespace forebay
