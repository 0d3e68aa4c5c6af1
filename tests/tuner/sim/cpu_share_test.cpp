#include "tuner/sim/cpu_share.h"

#include <cmath>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

void add(CpuShare& share, std::size_t stage, int count) {
  for (int i = 0; i < count; ++i) share.add(stage);
}

}  // namespace

TEST_CASE("with CPUs for all nothing stretches", "[tuner][sim][cpu]") {
  CpuShare share({1, 0.5}, 4);
  add(share, 0, 3);
  add(share, 1, 2);  // 3 + 1 CPUs of 4.
  CHECK_FALSE(share.update(7));
  CHECK(share.stretch() == 1);
  CHECK(share.clock(0, 10) - share.clock(0, 7) == 3);
}

TEST_CASE("where every share is 1 the stretch is the actors over the CPUs", "[tuner][sim][cpu]") {
  CpuShare share({1, 1}, 4);
  add(share, 0, 6);
  add(share, 1, 4);
  CHECK(share.update(2));
  CHECK(share.stretch() == Approx(2.5).epsilon(1e-12));
  // A second of work takes 2.5 s, from the moment of the change on.
  CHECK(share.clock(1, 2) == Approx(2));
  CHECK(share.clock(1, 4.5) == Approx(3));
  CHECK(share.when(1, 3) == Approx(4.5));
}

TEST_CASE("all CPUs are in use for any shares", "[tuner][sim][cpu]") {
  const std::vector<double> cpu = {1, 0.3, 0.02, 0.7};
  CpuShare share(cpu, 16);
  const int busy[] = {12, 30, 200, 9};
  for (std::size_t i = 0; i < cpu.size(); ++i) add(share, i, busy[i]);
  REQUIRE(share.update(0));
  const double f = share.stretch();
  CHECK(f > 1);
  double used = 0;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    used += busy[i] * cpu[i] / (1 - cpu[i] + cpu[i] * f);
  }
  CHECK(used == Approx(16).epsilon(1e-12));
}

TEST_CASE("clocks go on where they were when the stretch changes", "[tuner][sim][cpu]") {
  CpuShare share({0.5}, 1);
  add(share, 0, 4);  // 2 CPUs wanted: 4 · 0.5 / (0.5 + 0.5 f) = 1, f = 3, half speed.
  REQUIRE(share.update(0));
  CHECK(share.stretch() == Approx(3));
  CHECK(share.clock(0, 10) == Approx(5));
  share.set_cpus(2);
  REQUIRE(share.update(10));
  CHECK(share.stretch() == 1);
  CHECK(share.clock(0, 12) == Approx(7));
  for (int i = 0; i < 3; ++i) share.remove(0);
  CHECK_FALSE(share.update(12));
}

}  // namespace forebay::tuner
