#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <malloc.h>

#include "core/base/sanitizers.h"
#include "core/base/thread/start_thread.h"

namespace forebay::test {

/// While an object lives, this process may map no more memory: no thread gets a stack, so
/// pthread_create answers EAGAIN, as at a limit of processes.
class NoMoreMemory {
 public:
  NoMoreMemory() {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &none);
  }
  ~NoMoreMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  NoMoreMemory(const NoMoreMemory&) = delete;
  NoMoreMemory& operator=(const NoMoreMemory&) = delete;

 private:
  rlimit before_ = {};
};

/// Free bytes of the one heap of all threads, in the middle of it, so that they are not given back
/// to the system: what threads allocate while no more memory may be mapped.
class FreeHeap {
 public:
  FreeHeap() {
    ::mallopt(M_ARENA_MAX, 1);
    std::vector<std::unique_ptr<std::byte[]>> blocks(64);
    for (auto& block : blocks) block = std::make_unique<std::byte[]>(64 << 10);
    behind_ = std::make_unique<std::byte[]>(64);
  }

 private:
  std::unique_ptr<std::byte[]> behind_;
};

/// A sanitizer maps memory of its own for a thread, and ends the process without it.
inline constexpr bool kCanRefuseThreads = !FOREBAY_ADDRESS_SANITIZER && !FOREBAY_THREAD_SANITIZER;

/// Calls `use` while no thread can be started, if that can be done here. Stacks of ended threads
/// are kept for the next ones; takes them all.
template <class Use>
void with_no_thread_left(const Use& use) {
  if (!kCanRefuseThreads) return;
  std::atomic<bool> over{false};
  std::vector<std::thread> takers;
  std::vector<std::unique_ptr<Thread>> small_takers;
  takers.reserve(64);
  small_takers.reserve(64);
  const FreeHeap heap;
  {
    const NoMoreMemory limit;
    try {
      while (takers.size() < 64)
        takers.push_back(start_thread("a test", [&] { over.wait(false); }));
    } catch (const NoThread&) {
    }
    try {
      while (small_takers.size() < 64) {
        small_takers.push_back(
            std::make_unique<Thread>(Thread::Options{.name = "a test"}, [&] { over.wait(false); }));
      }
    } catch (const NoThread&) {
    }
    use();
  }
  over = true;
  over.notify_all();
  for (std::thread& taker : takers) taker.join();
}

}  // namespace forebay::test
