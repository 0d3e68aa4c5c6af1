#pragma once

#include <chrono>
#include <exception>

namespace forebay {

/// Interval at which a waiting thread checks whether to give up: Gloo cannot cancel a wait.
inline constexpr std::chrono::milliseconds kLook{200};

/// Waits for an operation of c10d (`Work` is c10d::Work except in tests). Returns false if
/// `given_up()` returned true. Throws the operation's exception if it failed.
template <class Work, class GivenUp>
bool wait_patiently(Work& work, const GivenUp& given_up) {
  while (!work.isCompleted()) {
    if (given_up()) return false;
    try {
      return work.wait(kLook);
    } catch (const std::exception&) {
      // The operation took longer than one interval, though it may have ended by now; or it failed.
      // If it has ended, waiting again reports its result at once: this exception may only be the
      // interval's timeout.
    }
  }
  return work.wait();
}

}  // namespace forebay
