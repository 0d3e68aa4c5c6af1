#include "tuner/world/shared_speeds.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Use = SharedSpeeds::Use;

/// One node of `cpus`, resources of these rates (all but the first stall no core), and lines.
SharedSpeeds node_of(double cpus, double dram, double disk) {
  return SharedSpeeds({{.rate = dram, .stalls_cpu = true}, {.rate = disk}}, {cpus});
}

void begin(SharedSpeeds& speeds, std::size_t line, int splits, double seconds) {
  for (int i = 0; i < splits; ++i) speeds.begin(line, seconds);
  speeds.update();
}

}  // namespace

TEST_CASE("splits that share nothing scarce run at full speed", "[tuner][world]") {
  SharedSpeeds speeds = node_of(8, 100, 100);
  speeds.add_line(0, 0.5, {{0, 1}, {1, 1}});
  begin(speeds, 0, 8, 0.1);  // 80 units a second of each.
  CHECK(speeds.of(0) == SharedSpeeds::Speed{.speed = 1, .cpu = 0.5, .stretch = 1});
}

TEST_CASE("a disk that is asked for twice its rate halves the speed and the CPU time",
          "[tuner][world]") {
  SharedSpeeds speeds = node_of(8, 100, 40);
  speeds.add_line(0, 1, {{1, 1}});
  begin(speeds, 0, 8, 0.1);
  CHECK(speeds.of(0).speed == Approx(0.5));
  CHECK(speeds.of(0).cpu == 1);  // Of its progress: 0.5 CPUs a split.
}

TEST_CASE("a core that stalls on memory looks busy", "[tuner][world]") {
  SharedSpeeds speeds = node_of(64, 50, 1);
  speeds.add_line(0, 0.5, {{0, 1}});
  begin(speeds, 0, 10, 0.1);  // 100 asked, p = 0.5: c = 0.5 + 2 - 1.
  CHECK(speeds.of(0).cpu == Approx(1.5));
  CHECK(speeds.of(0).speed == Approx(0.5));  // 1 / (1 - 0.5 + 1.5).
}

TEST_CASE("too few CPUs stretch the stalls, too, until all are busy", "[tuner][world]") {
  SharedSpeeds speeds = node_of(6, 50, 1);
  speeds.add_line(0, 0.5, {{0, 1}});
  begin(speeds, 0, 10, 0.1);  // 10 · 1.5 · v = 6.
  CHECK(speeds.of(0).speed == Approx(0.4));
  CHECK(speeds.of(0).stretch == Approx((2.5 - 0.5) / 1.5));
}

TEST_CASE("CPUs that a disk's users leave idle go to the others", "[tuner][world]") {
  SharedSpeeds speeds = node_of(4, 1e9, 10);
  speeds.add_line(0, 1, {{1, 1}});
  speeds.add_line(0, 1, {});
  speeds.begin(1, 0.1);
  begin(speeds, 0, 4, 0.1);  // 40 asked of 10: a quarter of the speed, one CPU in all.
  begin(speeds, 1, 4, 0.1);  // Five in this line: three CPUs for them.
  CHECK(speeds.of(0).speed == Approx(0.25));
  CHECK(speeds.of(1).speed == Approx(0.6));
}

TEST_CASE("a shared resource slows the splits of every node", "[tuner][world]") {
  SharedSpeeds speeds({{.rate = 10}}, {8, 8});
  speeds.add_line(0, 0.1, {{0, 1}});
  speeds.add_line(1, 0.1, {{0, 1}});
  begin(speeds, 0, 1, 0.1);
  CHECK(speeds.of(0).speed == 1);
  begin(speeds, 1, 1, 0.1);
  CHECK(speeds.of(0).speed == Approx(0.5));
  CHECK(speeds.of(1).speed == Approx(0.5));
  speeds.set_rate(0, 40);
  CHECK(speeds.update().size() == 2);
  CHECK(speeds.of(0).speed == 1);
  speeds.end(1, 0.1);
  CHECK(speeds.update().empty());
}

}  // namespace forebay::tuner
