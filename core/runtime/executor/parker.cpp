#include "core/runtime/executor/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace forebay {
namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

void Parker::park() {
  std::uint32_t expected = kEmpty;
  if (word_.compare_exchange_strong(expected, kSleeping, std::memory_order_acquire)) {
    while (word_.load(std::memory_order_acquire) == kSleeping) {
      futex(word_, FUTEX_WAIT_PRIVATE, kSleeping);
    }
  }
  word_.store(kEmpty, std::memory_order_relaxed);
}

void Parker::unpark() {
  // The Parker may be destroyed after the exchange; a futex wake at an address without waiters is
  // harmless.
  if (word_.exchange(kToken, std::memory_order_acq_rel) == kSleeping) {
    futex(word_, FUTEX_WAKE_PRIVATE, 1);
  }
}

}  // namespace forebay
