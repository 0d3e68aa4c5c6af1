#include "scheduler/demand_meter.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

TEST_CASE("a demand is what a trainer takes in the time in which it does not wait", "[scheduler]") {
  DemandMeter meter;
  CHECK(meter.demand() == 0);
  REQUIRE(meter.add({.seconds = 2, .taken = 60, .waited = 0.5}));
  CHECK(meter.demand() == Approx(40));  // 60 in 1.5 s
  CHECK(meter.taken() == Approx(30));
  CHECK(meter.starved() == Approx(0.25));
}

TEST_CASE("intervals with few splits are added up", "[scheduler]") {
  DemandMeter meter;
  CHECK_FALSE(meter.add({.seconds = 2, .taken = 3}));
  CHECK_FALSE(meter.add({.seconds = 2, .taken = 0}));
  REQUIRE(meter.add({.seconds = 2, .taken = 6}));
  CHECK(meter.demand() == Approx(1.5));  // 9 in 6 s
  CHECK_FALSE(meter.add({.seconds = 2, .taken = 1}));
}

TEST_CASE("a trainer that gets nothing and waits has an unknown demand", "[scheduler]") {
  DemandMeter meter;
  REQUIRE(meter.add({.seconds = 2, .taken = 0, .waited = 2}));
  CHECK(meter.demand() == 0);
  CHECK(meter.starved() == 1);
  CHECK_FALSE(meter.add({.seconds = 0}));
}

TEST_CASE("half a minute without a split is a demand of 0", "[scheduler]") {
  DemandMeter meter;
  REQUIRE(meter.add({.seconds = 2, .taken = 80}));
  for (int i = 0; i < 14; ++i) CHECK_FALSE(meter.add({.seconds = 2}));
  REQUIRE(meter.add({.seconds = 2}));
  CHECK(meter.demand() == 40);  // once may be a pause
  REQUIRE(meter.add({.seconds = 30}));
  CHECK(meter.demand() == 0);
}

TEST_CASE("a demand that departs counts when it is seen twice", "[scheduler]") {
  DemandMeter meter;
  REQUIRE(meter.add({.seconds = 2, .taken = 80}));
  REQUIRE(meter.add({.seconds = 2, .taken = 20}));
  CHECK(meter.demand() == 40);
  REQUIRE(meter.add({.seconds = 2, .taken = 80}));
  CHECK(meter.demand() == 40);
  REQUIRE(meter.add({.seconds = 2, .taken = 20}));
  REQUIRE(meter.add({.seconds = 2, .taken = 20}));
  CHECK(meter.demand() == 10);
  REQUIRE(meter.add({.seconds = 2, .taken = 22}));
  CHECK(meter.demand() == Approx(10.3));  // 10 + 0.3 * (11 - 10)
}

}  // namespace
}  // namespace forebay::scheduler
