#include "core/base/thread/start_thread.h"

#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include <malloc.h>

#include "core/base/sanitizers.h"
#include "core/base/thread/parallel.h"
#include "tests/support/skip_note.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

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
constexpr bool kCanRefuse = !FOREBAY_ADDRESS_SANITIZER && !FOREBAY_THREAD_SANITIZER;

/// Stacks of ended threads are kept for the next ones; takes them all.
template <class Use>
void with_no_thread_left(const Use& use) {
  if (!kCanRefuse) return;
  std::atomic<bool> over{false};
  std::vector<std::thread> takers;
  takers.reserve(64);
  const FreeHeap heap;
  {
    const NoMoreMemory limit;
    try {
      while (takers.size() < 64)
        takers.push_back(start_thread("a test", [&] { over.wait(false); }));
    } catch (const NoThread&) {
    }
    use();
  }
  over = true;
  over.notify_all();
  for (std::thread& taker : takers) taker.join();
}

TEST_CASE("a thread that cannot be started is refused with its use and what to do",
          "[core][start_thread]") {
  std::string what;
  Status checked;
  with_no_thread_left([&] {
    try {
      start_thread("cleaning up", [] {}).join();
    } catch (const NoThread& none) {
      what = none.what();
    }
    checked = check_threads(2, "the network");
  });
  if (!kCanRefuse) return test::note_skipped("a sanitizer needs memory for each thread");
  CHECK(what.starts_with("no thread can be started for cleaning up: "));
  CHECK(what.find("ulimit -u") != std::string::npos);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == Code::kUnavailable);
  CHECK(checked.error().message.starts_with("the network needs 2 threads, and only "));
}

TEST_CASE("as many threads as there are can be started at once", "[core][start_thread]") {
  CHECK(check_threads(0, "nothing"));
  CHECK(check_threads(8, "a test"));
}

TEST_CASE("work in parallel is done by as many threads as there are", "[core][start_thread]") {
  std::atomic<int> done{0};
  const auto work = [&] { for_each_in_parallel(20, 4, [&](std::size_t) { ++done; }); };
  work();
  CHECK(done == 20);
  with_no_thread_left(work);
  if (kCanRefuse) CHECK(done == 40);
}

}  // namespace
}  // namespace forebay
