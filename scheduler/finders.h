#pragma once

#include <string>

#include "scheduler/protocol.h"

namespace forebay::scheduler {

/// Finds the head. Called repeatedly while the head does not answer, so it must not block.
class HeadFinder {
 public:
  virtual ~HeadFinder() = default;
  /// A ref to the head; an empty ref while the head cannot be reached.
  virtual HeadRef head() = 0;
};

/// Finds a job's split client.
class SplitClientFinder {
 public:
  virtual ~SplitClientFinder() = default;
  /// The split client at `address`, as given by Accepted and JobOffer (empty: the head's address);
  /// an empty ref while it cannot be reached. Must not block.
  virtual SplitClientRef split_client(const std::string& address) = 0;
};

}  // namespace forebay::scheduler
