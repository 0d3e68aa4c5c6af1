#pragma once

#include <atomic>
#include <cstdint>

namespace forebay {

/// Lets one thread sleep until another wakes it: a binary semaphore in one futex word.
///
/// `unpark` makes a system call only if the owner sleeps. Each `park` consumes exactly one
/// `unpark`, which may come first; spurious wake-ups are handled inside.
class Parker {
 public:
  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Sleeps until unparked. Only for the owning thread.
  void park();

  /// Wakes the owner, now or at its next `park`. Thread-safe. The owner sees all writes that the
  /// caller made before. The Parker may be destroyed as soon as the owner is awake.
  void unpark();

 private:
  enum : std::uint32_t { kEmpty = 0, kToken = 1, kSleeping = 2 };
  std::atomic<std::uint32_t> word_{kEmpty};
};

}  // namespace forebay
