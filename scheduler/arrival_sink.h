#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/wire/frame.h"

namespace forebay::scheduler {

/// What a split client does with what came: the way into the trainer's reorder buffer.
class ArrivalSink {
 public:
  virtual ~ArrivalSink() = default;

  /// Takes a split that a worker delivered; room for it was taken when it was issued. Called on the
  /// split client's thread, once for each split; may not block. False: it is here from elsewhere
  /// (this node made it itself). An error: these bytes are no such split; the split is made again.
  virtual Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) = 0;
};

}  // namespace forebay::scheduler
