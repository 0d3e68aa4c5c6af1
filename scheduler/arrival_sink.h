#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/wire/frame.h"

namespace forebay::scheduler {

/// Receives the splits that arrive at a split client: the path into the trainer's reorder buffer.
class ArrivalSink {
 public:
  virtual ~ArrivalSink() = default;

  /// Takes a split that a worker delivered; its memory was reserved when the split was issued.
  /// Called on the split client's thread, once for each split; must not block. Returns false if
  /// this node has made the split itself already. Returns an error if the bytes are not such a
  /// split; it is then made again.
  virtual Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) = 0;
};

}  // namespace forebay::scheduler
