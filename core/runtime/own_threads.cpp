#include "core/runtime/own_threads.h"

#include "core/base/check.h"

namespace forebay {

OwnThreads::OwnThreads(const Clock& clock)
    : timers_(clock),
      host_({.executor = shared_, .timers = timers_.queue(), .clock = clock, .on_unheard = {}}) {}

void OwnThreads::shutdown(ActorHost::Stop how) {
  host_.stop_all(how);
  host_.wait_until_empty();
  timers_.stop();
}

void OwnThreads::NoSharedThreads::submit(Resumable&) { FOREBAY_CHECK(false); }

}  // namespace forebay
