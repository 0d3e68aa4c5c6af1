#pragma once

#include "actors/stage/split.h"
#include "core/base/result.h"
#include "core/runtime/pool/pool_context.h"

namespace forebay {

/// Receives finished splits. Called on the threads of the last stage's actors, several at a time.
class SplitSink {
 public:
  virtual ~SplitSink() = default;

  /// Takes a split; may wait for free bytes, inside a PoolContext::OutputWait.
  virtual Status put(ColumnSplit&& split, PoolContext& context) = 0;
};

}  // namespace forebay
