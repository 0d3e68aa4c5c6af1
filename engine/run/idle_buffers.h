#pragma once

#include <chrono>

#include "core/data/buffer_pool.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// Returns idle buffers to the system when the process nears its memory limit. From then on the
/// guard adds no actor, and unused buffers must not keep the process in this state.
///
/// Returns them at most every ten seconds, since a buffer that is needed again costs fresh pages.
/// Belongs to one thread.
class IdleBuffers {
 public:
  /// `now` never decreases.
  void look(std::chrono::nanoseconds now, const tuner::CurrentState& current, BufferPool& buffers);

 private:
  std::chrono::nanoseconds given_back_{0};  // time of the last return
};

}  // namespace forebay
