#include "core/base/clock.h"

namespace forebay {

std::chrono::nanoseconds SystemClock::now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace forebay
