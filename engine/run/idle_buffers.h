#pragma once

#include <chrono>

#include "core/data/buffer_pool.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// Gives idle buffers back to the system where the process nears its memory limit: from there on
/// the guard adds no actor, and buffers that nothing uses must not keep a process there.
///
/// Gives them back every ten seconds at most, since a buffer that is needed again then costs fresh
/// pages. Belongs to one thread.
class IdleBuffers {
 public:
  /// `now` never goes back.
  void look(std::chrono::nanoseconds now, const tuner::CurrentState& current, BufferPool& buffers);

 private:
  std::chrono::nanoseconds given_back_{0};  // when
};

}  // namespace forebay
