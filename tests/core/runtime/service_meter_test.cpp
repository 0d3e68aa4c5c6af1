#include <pthread.h>
#include <sched.h>

#include <thread>
#include <vector>

#include <time.h>

#include "core/runtime/pool/actor_meter.h"
#include "core/runtime/stage_pool.h"
#include "tests/support/manual_clock.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// Computes until the thread has used that much more CPU.
void burn(std::chrono::nanoseconds cpu) {
  const auto used = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto end = used() + cpu;
  while (used() < end) {
  }
}

struct Task {
  std::uint64_t key = 0;
};

class Burner final : public PoolWorker<Task> {
 public:
  Status on(Task&&, PoolContext& context) override {
    burn(3ms);
    const PoolContext::OutputWait waiting(context);
    burn(50ms);
    return {};
  }
};

}  // namespace

TEST_CASE("work is CPU time, waiting is not", "[core][service_meter]") {
  ServiceMeter meter;
  meter.start(100ns, 3, true);
  burn(4ms);
  const Service worked = meter.finish(100ns + 10ms);
  CHECK(worked.time == 10ms);
  CHECK(worked.cpu >= 4ms);
  CHECK(worked.actors == 3);

  meter.start(0ns, 1, true);
  std::thread([] { burn(20ms); }).join();
  CHECK(meter.finish(20ms).cpu < 10ms);
}

TEST_CASE("the squared time of a service excludes run delay", "[core][service_meter]") {
  ServiceMeter meter;
  meter.start(0ns, 1, true);
  const Service service = meter.finish(2s);
  const double own = std::chrono::duration<double>(service.time - service.ready).count();
  CHECK(service.squared_seconds == own * own);  // (2 s)², less a hair
  CHECK(service.squared_seconds > 3.5);
}

TEST_CASE("time wanting a CPU is a part of a service, however late it is read",
          "[core][service_meter]") {
  // Half a dozen threads on one CPU: each has to wait for it.
  const auto crowded = [](Service& service) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ServiceMeter meter;
    meter.start(0ns, 1, true);
    std::vector<std::thread> crowd;
    for (int i = 0; i < 6; ++i) {
      crowd.emplace_back([&] {
        ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
        burn(20ms);
      });
    }
    ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
    burn(20ms);
    service = meter.finish(1us);
    for (std::thread& thread : crowd) thread.join();
  };
  Service service;
  std::thread([&] { crowded(service); }).join();  // its affinity ends with it
  CHECK(service.time == 1us);
  CHECK(service.cpu + service.ready <= service.time);
}

TEST_CASE("a wait for output is no part of a service", "[core][service_meter]") {
  ServiceMeter meter;
  meter.start(0ns, 1, true);
  meter.pause(1ms);
  burn(20ms);
  meter.resume(50ms);
  const Service service = meter.finish(53ms);
  CHECK(service.time == 4ms);
  CHECK(service.cpu < 20ms);
}

TEST_CASE("a measuring pool sums the time of its messages", "[core][service_meter]") {
  const SystemClock clock;
  StagePool<Task> pool({.name = "burn",
                        .mailbox_bytes = 100,
                        .measures_service = true,
                        .factory = [] { return std::make_unique<Burner>(); }},
                       clock);
  pool.grow(1);
  for (std::uint64_t key = 0; key < 3; ++key) pool.offer({key}, 1);
  test::wait_until([&] { return pool.stats().totals.messages == 3; });
  const Service done = pool.stats().totals.done;
  CHECK(done.cpu >= 9ms);
  CHECK(done.cpu < 150ms);  // the waits would be 150 ms more
  CHECK(done.time >= done.cpu);
  CHECK(done.actors == 3);  // one alive at each of three
  CHECK(done.squared_seconds > 0);
}

}  // namespace forebay
