#include "engine/energy/energy_meter.h"

#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Method = EnergyUse::Method;

void write_counter(const test::TempDir& tree, const std::string& microjoules) {
  static_cast<void>(tree.write("intel-rapl:0/name", "package-0\n"));
  static_cast<void>(tree.write("intel-rapl:0/max_energy_range_uj", "1000000000\n"));
  static_cast<void>(tree.write("intel-rapl:0/energy_uj", microjoules));
}

TEST_CASE("a run's energy is what the sockets counted during it", "[engine][energy]") {
  const test::TempDir tree;
  write_counter(tree, "1000000\n");
  EnergyMeter meter({.powercap = tree.path()});
  write_counter(tree, "31000000\n");
  meter.stop();
  write_counter(tree, "99000000\n");
  meter.stop();
  const EnergyUse use = meter.used(2.0);
  CHECK(use.joules() == 30.0);
  CHECK(name_of(use.method()) == "rapl");
}

TEST_CASE("without counters, CPU seconds give an estimate that says so", "[engine][energy]") {
  const test::TempDir empty;
  EnergyMeter meter({.powercap = empty.path()});
  meter.stop();
  const EnergyUse use = meter.used(2.5);
  CHECK(use.joules() == 25.0);  // 10 W × 2.5 s
  CHECK(name_of(use.method()) == "estimate");
  CHECK(name_of(meter.used(0).method()) == "none");
}

TEST_CASE("a run that goes on shows what the sockets have counted", "[engine][energy]") {
  const test::TempDir tree;
  write_counter(tree, "1000000\n");
  EnergyMeter meter({.powercap = tree.path()});
  write_counter(tree, "3000000\n");
  test::wait_until([&] { return meter.used(1).joules() == 2.0; });
}

TEST_CASE("counters that are lost during a run leave the estimate", "[engine][energy]") {
  const test::TempDir tree;
  write_counter(tree, "1000000\n");
  EnergyMeter meter({.powercap = tree.path()});
  write_counter(tree, "lost\n");
  meter.stop();
  CHECK(meter.used(1.0).method() == Method::kEstimate);
  CHECK(meter.used(1.0).joules() == 10.0);
}

TEST_CASE("a GPU's joules come on top of the CPUs', and name the method", "[engine][energy]") {
  const EnergyUse use{.cpu_joules = 10, .cpu_method = Method::kRapl, .gpu_joules = 32.5};
  CHECK(use.joules() == 42.5);
  CHECK(name_of(use.method()) == "nvml");
}

TEST_CASE("a machine without NVIDIA's library has no GPU to count", "[engine][energy]") {
  CHECK(NvmlCounters::open("libforebay-none.so.1").error().code == Code::kNotFound);
  CHECK(NvmlCounters::open("libm.so.6").error().code == Code::kUnavailable);
}

}  // namespace
}  // namespace forebay
