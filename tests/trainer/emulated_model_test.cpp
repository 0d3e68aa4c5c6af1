#include "trainer/model.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("an emulated model takes its time for each batch and cannot be evaluated",
          "[trainer][emulated]") {
  std::chrono::nanoseconds total{0};
  EmulatedModel model(std::chrono::milliseconds(20), [&](auto time) { total += time; });
  REQUIRE(model.step(Batch()));
  REQUIRE(model.step(Batch()));
  CHECK(total == std::chrono::milliseconds(40));
  CHECK_FALSE(model.learns());
  CHECK_FALSE(model.predict(Batch(), {}));
}
