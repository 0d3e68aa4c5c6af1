#include "engine/run/idle_buffers.h"

#include "tuner/guard.h"

namespace forebay {
namespace {

constexpr std::chrono::seconds kBetween{10};

}  // namespace

void IdleBuffers::look(std::chrono::nanoseconds now, const tuner::CurrentState& standing,
                       BufferPool& buffers) {
  if (!tuner::nearly_full(standing) || now - given_back_ < kBetween) return;
  given_back_ = now;
  buffers.trim();
}

}  // namespace forebay
