#pragma once

#include <cstdint>

#include "actors/stage/split.h"
#include "core/base/result.h"
#include "core/runtime/pool/pool_engine.h"

namespace forebay {

/// Owns stages: takes their finished splits, and has the memory that their actors use.
class StageOwner {
 public:
  virtual ~StageOwner() = default;

  /// Takes a finished split; may wait for free bytes, inside a PoolContext::OutputWait. Called on
  /// the threads of the last stage's actors, several at a time.
  virtual Status put(Split&& split, PoolContext& context) = 0;

  /// An actor failed, while the others continue. Called on its thread.
  virtual void failed(const Error& error) = 0;

  /// Returns whether there is memory for so many actors' threads.
  virtual bool has_room_for(std::uint64_t threads) const = 0;

  /// Divides the memory anew, since the number of actors changed.
  virtual void resized() {}
};

}  // namespace forebay
