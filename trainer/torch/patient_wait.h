#pragma once

#include <chrono>
#include <exception>

namespace forebay {

/// How often who waits looks whether it still should: Gloo has no way to end a wait.
inline constexpr std::chrono::milliseconds kLook{200};

/// Waits for an operation of c10d (`Work` is c10d::Work but in tests). False: given up, since
/// `given_up()` says so. Throws what the operation failed with.
template <class Work, class GivenUp>
bool wait_patiently(Work& work, const GivenUp& given_up) {
  while (!work.isCompleted()) {
    if (given_up()) return false;
    try {
      return work.wait(kLook);
    } catch (const std::exception&) {
      // It lasted longer than a look, though it may be over by now; or it failed. If it is over,
      // waiting again says at once how it ended: what was thrown here may only be of the look.
    }
  }
  return work.wait();
}

}  // namespace forebay
