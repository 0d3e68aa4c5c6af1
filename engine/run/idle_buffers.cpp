#include "engine/run/idle_buffers.h"

#include "tuner/guard.h"

namespace forebay {
namespace {

constexpr std::chrono::seconds kBetween{10};

}  // namespace

void IdleBuffers::look(std::chrono::nanoseconds now, const tuner::CurrentState& current,
                       BufferPool& buffers) {
  if (!tuner::nearly_full(current) || now - given_back_ < kBetween) return;
  given_back_ = now;
  buffers.trim();
}

}  // namespace forebay
