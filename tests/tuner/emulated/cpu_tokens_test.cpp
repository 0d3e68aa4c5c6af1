#include <algorithm>
#include <deque>
#include <limits>

#include "core/base/random.h"
#include "tuner/emulated/virtual_machine.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// Removes the work that ends next and returns its end.
double end_of_next(CpuTokens& tokens) {
  const double end = tokens.next_end();
  tokens.advance(end);
  tokens.pop().end = end;
  return end;
}

TEST_CASE("with CPUs for all, work takes as long as it is", "[tuner][emulated]") {
  CpuTokens tokens(2, 1);
  WorkItem shorter;
  WorkItem longer;
  tokens.add(longer, 0.5);
  tokens.add(shorter, 0.2);
  CHECK(tokens.share() == 1);
  CHECK(end_of_next(tokens) == Approx(0.2));
  CHECK(shorter.end == Approx(0.2));
  CHECK(end_of_next(tokens) == Approx(0.5));
  CHECK(tokens.next_end() == std::numeric_limits<double>::infinity());
}

TEST_CASE("too few CPUs slow all work equally", "[tuner][emulated]") {
  CpuTokens tokens(2, 1);
  std::deque<WorkItem> work(4);
  for (WorkItem& each : work) tokens.add(each, 0.3);
  CHECK(tokens.share() == 0.5);
  CHECK(end_of_next(tokens) == Approx(0.6));  // 0.3 s at half a CPU.
}

TEST_CASE("a later work item slows the others on the CPU, and its end speeds them up",
          "[tuner][emulated]") {
  CpuTokens tokens(1, 2);
  WorkItem first{.stage = 0};
  WorkItem second{.stage = 1};
  tokens.add(first, 1.0);
  tokens.advance(0.5);  // Half done alone.
  tokens.add(second, 0.1);
  CHECK(end_of_next(tokens) == Approx(0.7));  // 0.1 s at half a CPU;
  CHECK(second.end == Approx(0.7));
  CHECK(end_of_next(tokens) == Approx(1.1));  // 0.4 s were left then.
  CHECK(tokens.used(0) == Approx(1.0));
  CHECK(tokens.used(1) == Approx(0.1));
}

TEST_CASE("CPUs that come and go change the share from that moment on", "[tuner][emulated]") {
  CpuTokens tokens(4, 1);
  std::deque<WorkItem> work(4);
  for (WorkItem& each : work) tokens.add(each, 1.0);
  tokens.advance(0.5);
  tokens.set_cpus(2);
  CHECK(tokens.next_end() == Approx(1.5));  // Half a second of work at half a CPU.
}

TEST_CASE("no CPU is idle while work waits for one, and no more are used than exist",
          "[tuner][emulated]") {
  constexpr std::uint64_t kSeed = 7;
  Random random(kSeed);
  double cpus = 5;
  CpuTokens tokens(cpus, 3);
  std::deque<WorkItem> work;
  double now = 0;
  for (int i = 0; i < 3000; ++i) {
    const double used_before = tokens.used(0) + tokens.used(1) + tokens.used(2);
    const double busy = std::min(cpus, static_cast<double>(tokens.wanting()));
    const double next = std::min(now + 0.02 * random.uniform(), tokens.next_end());
    tokens.advance(next);
    const double used = tokens.used(0) + tokens.used(1) + tokens.used(2) - used_before;
    INFO("seed " << kSeed << ", step " << i);
    REQUIRE(used == Approx(busy * (next - now)).margin(1e-9));
    now = next;
    if (tokens.next_end() <= now) tokens.pop();
    if (random.below(3) != 0) {
      work.push_back({.stage = random.below(3)});
      tokens.add(work.back(), 0.2 * random.uniform());
    }
    if (random.below(50) == 0) tokens.set_cpus(cpus = 1 + random.below(9));
  }
}

}  // namespace
}  // namespace forebay::tuner
