#pragma once

#include <string>

#include "scheduler/protocol.h"

namespace forebay::scheduler {

/// Where the head is. Asked again and again while it does not answer, so it must not block.
class HeadFinder {
 public:
  virtual ~HeadFinder() = default;
  /// The head as it can be reached now; a ref that names nobody while it cannot.
  virtual HeadRef head() = 0;
};

/// Where a job's split client is.
class SplitClientFinder {
 public:
  virtual ~SplitClientFinder() = default;
  /// The split client at `address`, as Accepted and JobOffer give it (empty: at the head's); a ref
  /// that names nobody while it cannot be reached. Must not block.
  virtual SplitClientRef split_client(const std::string& address) = 0;
};

}  // namespace forebay::scheduler
