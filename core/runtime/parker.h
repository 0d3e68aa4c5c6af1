#pragma once

#include <atomic>
#include <cstdint>

namespace forebay {

/// Lets one thread sleep until another wakes it: a binary semaphore over one
/// futex word.
///
/// `unpark` is a system call only when the owner sleeps. Each `park` consumes
/// exactly one `unpark`, which may come first; a spurious wake-up stays inside.
class Parker {
 public:
  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Sleeps until unparked. Only the owning thread calls it.
  void park();

  /// Wakes the owner, now or at its next `park`. Any thread. What it did before
  /// is visible to the owner. The Parker may be gone as soon as the owner has
  /// woken.
  void unpark();

 private:
  enum : std::uint32_t { kEmpty = 0, kToken = 1, kSleeping = 2 };
  std::atomic<std::uint32_t> word_{kEmpty};
};

}  // namespace forebay
