#include "tuner/emulated/machine_thread.h"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/wait_until.h"
#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using test::wait_until;

TEST_CASE("an actor's thread sleeps until its work has ended", "[tuner][emulated]") {
  const SystemClock clock;
  MachineThread machine(line_of({stage("load", 0.02)}), 1, clock);
  WorkItem work{.stage = 0, .begin = machine.now()};
  const double begin = work.begin;
  REQUIRE(machine.do_work(work));
  CHECK(work.seconds() == Approx(0.02));
  CHECK(machine.now() >= begin + 0.02);
  CHECK(machine.lateness().wakes == 1);
}

TEST_CASE("a machine that stops releases all waiting actors", "[tuner][emulated]") {
  const SystemClock clock;
  MachineThread machine(line_of({stage("load", 3600)}), 1, clock);
  std::atomic<int> begun{0};
  std::atomic<int> let_go{0};
  std::vector<std::thread> actors;
  for (int i = 0; i < 4; ++i) {
    actors.emplace_back([&] {
      WorkItem work{.stage = 0, .begin = machine.now()};
      ++begun;
      if (!machine.do_work(work)) ++let_go;
    });
  }
  wait_until([&] { return begun == 4; });
  machine.stop();
  for (std::thread& actor : actors) actor.join();
  CHECK(let_go == 4);
  WorkItem work{.stage = 0, .begin = machine.now()};
  CHECK_FALSE(machine.do_work(work));
}

TEST_CASE("in a frozen machine no work ends until it stops", "[tuner][emulated]") {
  const SystemClock clock;
  MachineThread machine(line_of({stage("load", 0.01)}), 1, clock);
  machine.freeze();
  std::atomic<bool> ended{false};
  std::thread actor([&] {
    WorkItem work{.stage = 0, .begin = machine.now()};
    CHECK_FALSE(machine.do_work(work));
    ended = true;
  });
  const double from = machine.now();
  wait_until([&] { return machine.now() > from + 0.1; });
  CHECK_FALSE(ended);
  machine.stop();
  actor.join();
}

}  // namespace
}  // namespace forebay::tuner
