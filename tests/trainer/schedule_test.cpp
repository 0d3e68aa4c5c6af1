#include "trainer/spec.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("without a schedule the learning rate stays", "[trainer][schedule]") {
  TrainerSpec spec;
  spec.learning_rate = 0.25;
  CHECK(learning_rate_at(spec, 0) == 0.25);
  CHECK(learning_rate_at(spec, UINT64_MAX) == 0.25);
}

TEST_CASE("the learning rate rises from nothing to its value", "[trainer][schedule]") {
  TrainerSpec spec;
  spec.learning_rate = 8;
  spec.warmup_steps = 4;
  CHECK(learning_rate_at(spec, 0) == 2);
  CHECK(learning_rate_at(spec, 1) == 4);
  CHECK(learning_rate_at(spec, 3) == 8);
  CHECK(learning_rate_at(spec, 4) == 8);
}

TEST_CASE("the learning rate falls with the square of the remaining share of steps",
          "[trainer][schedule]") {
  // The remaining share of 4 steps after step 10: 4, 3, 2, 1, 0 quarters.
  TrainerSpec spec;
  spec.learning_rate = 16;
  spec.decay_start = 10;
  spec.decay_steps = 4;
  CHECK(learning_rate_at(spec, 9) == 16);
  CHECK(learning_rate_at(spec, 10) == 16);
  CHECK(learning_rate_at(spec, 11) == 9);
  CHECK(learning_rate_at(spec, 12) == 4);
  CHECK(learning_rate_at(spec, 13) == 1);
  CHECK(learning_rate_at(spec, 14) == 0);
  CHECK(learning_rate_at(spec, 1000) == 0);
}
