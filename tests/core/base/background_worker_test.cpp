#include "core/base/thread/background_worker.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "core/base/thread/start_thread.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {

using namespace std::chrono_literals;

TEST_CASE("posted work runs in its order on one thread of the caller's group",
          "[core][background_worker]") {
  const auto group = std::make_shared<ThreadGroup>();
  const ThreadGroup::Member member(group);
  std::string order;
  std::promise<std::shared_ptr<ThreadGroup>> seen;
  BackgroundWorker worker("a test");
  REQUIRE(worker.post([&] { order += 'a'; }));
  REQUIRE(worker.post([&] { order += 'b'; }));
  REQUIRE(worker.post([&] { seen.set_value(ThreadGroup::current()); }));
  CHECK(seen.get_future().get() == group);
  CHECK(order == "ab");
}

TEST_CASE("stopping waits for the work under way and drops the rest", "[core][background_worker]") {
  std::atomic<bool> begun = false;
  std::atomic<bool> released = false;
  std::atomic<int> ended = 0;
  const auto held = std::make_shared<int>(0);
  {
    BackgroundWorker worker("a test");
    REQUIRE(worker.post([&] {
      begun = true;
      test::wait_until([&] { return released.load(); });
      ++ended;
    }));
    REQUIRE(worker.post([&, held] { ++ended; }));
    test::wait_until([&] { return begun.load(); });
    std::thread releasing([&] {
      // A worker that stops drops what is posted.
      test::wait_until([&] {
        const auto probe = std::make_shared<int>(0);
        const bool posted = worker.post([probe] {}).has_value();
        return posted && probe.use_count() == 1;
      });
      released = true;
    });
    worker.stop();
    CHECK(ended == 1);
    releasing.join();
    REQUIRE(worker.post([&] { ++ended; }));
  }
  CHECK(ended == 1);
  CHECK(held.use_count() == 1);
}

TEST_CASE("a worker with a period calls its function again and again, and runs posted work, too",
          "[core][background_worker]") {
  std::atomic<int> ticks = 0;
  std::atomic<int> posted = 0;
  BackgroundWorker worker("a test", 1ms, [&] { ++ticks; });
  REQUIRE(worker.post([&] { ++posted; }));
  test::wait_until([&] { return ticks >= 3 && posted == 1; });
  worker.stop();
  const int before = ticks;
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  CHECK(ticks == before);
}

}  // namespace forebay
