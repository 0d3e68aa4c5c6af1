#pragma once

#include <cstdint>
#include <functional>

#include "core/base/result.h"
#include "core/store/segment_index.h"

namespace forebay {

/// A page as the disk gave it.
struct ReadPage {
  char* memory = nullptr;
  std::int64_t bytes = 0;  ///< Or -errno.
};

/// kUnavailable where the disk would not read, kCorrupt where it gave something else than was
/// written; both name the file.
Status check_page(const RowLogPlan& plan, const OpenSegment& segment, std::uint64_t number,
                  const ReadPage& page);

/// Reads a segment from its beginning to its end, as much at once as `memory` holds. Ends with the
/// first refusal.
Status for_each_page(const RowLogPlan& plan, const OpenSegment& segment, const DirectMemory& memory,
                     const std::function<Status(std::uint64_t number, const RowPage& rows)>& visit);

}  // namespace forebay
