#include "engine/energy/worker_energy.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Method = EnergyUse::Method;

constexpr EnergyUse kCounted{.cpu_joules = 100, .cpu_method = Method::kRapl};
constexpr EnergyUse kEstimated{.cpu_joules = 100, .cpu_method = Method::kEstimate};

TEST_CASE("workers on other machines add their joules", "[engine][energy]") {
  const EnergyUse all = with_workers(kCounted, 1,
                                     {{.joules = 30, .counted = true, .machine = 2},
                                      {.joules = 20, .counted = true, .machine = 3}});
  CHECK(all.joules() == 150);
  CHECK(all.worker_joules == 50);
  CHECK(all.method() == Method::kRapl);
  CHECK(with_workers(kCounted, 1, {}).worker_method == Method::kNone);
}

TEST_CASE("a machine's sockets count once, by who counted most of them", "[engine][energy]") {
  const EnergyUse all = with_workers(kCounted, 1,
                                     {{.joules = 30, .counted = true, .machine = 2},
                                      {.joules = 40, .counted = true, .machine = 2},
                                      {.joules = 5, .counted = false, .machine = 2},
                                      {.joules = 90, .counted = true, .machine = 1},
                                      {.joules = 7, .counted = false, .machine = 1}});
  CHECK(all.worker_joules == 40);
  CHECK(all.worker_method == Method::kRapl);
}

TEST_CASE("estimates add up, on one machine too, and a sum with one is an estimate",
          "[engine][energy]") {
  const std::vector<WorkerEnergy> two = {{.joules = 3, .machine = 1}, {.joules = 4, .machine = 1}};
  CHECK(with_workers(kEstimated, 1, two).joules() == 107);
  CHECK(with_workers(kEstimated, 1, two).method() == Method::kEstimate);
  // The own machine's sockets have these two.
  CHECK(with_workers(kCounted, 1, two).joules() == 100);
  CHECK(with_workers(kCounted, 2, two).joules() == 107);
  CHECK(with_workers(kCounted, 2, two).method() == Method::kEstimate);
  EnergyUse gpu = kCounted;
  gpu.gpu_joules = 1;
  CHECK(with_workers(gpu, 2, two).method() == Method::kNvml);
}

TEST_CASE("a machine that is not known is another one than all", "[engine][energy]") {
  const EnergyUse all =
      with_workers(kCounted, 0, {{.joules = 30, .counted = true}, {.joules = 40, .counted = true}});
  CHECK(all.worker_joules == 70);
}

TEST_CASE("this machine has one number", "[engine][energy]") {
  CHECK(machine_number() != 0);
  CHECK(machine_number() == machine_number());
}

}  // namespace
}  // namespace forebay
