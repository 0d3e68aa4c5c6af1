#include <array>

#include "engine/modelled/modelled_figures.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using tuner::Observation;

TEST_CASE("intervals add up to one that is as long as all of them", "[tools][modelled]") {
  Observation first;
  first.at_seconds = 2;
  first.seconds = 2;
  first.trainer_steps = 10;
  first.trainer_wait_seconds = 0.5;
  first.memory_peak = 90;
  first.prefetch_fill = 0.2;
  first.stages = {{.actors = 3, .cpu_seconds = 4, .done = 8, .queue_fill = 0.5}};
  Observation second = first;
  second.at_seconds = 8;
  second.seconds = 6;
  second.trainer_steps = 70;
  second.memory_peak = 80;
  second.prefetch_fill = 1;
  second.stages = {{.actors = 5, .cpu_seconds = 20, .done = 60, .queue_fill = 0.1}};

  const Observation sum = sum_of(std::array{first, second});
  CHECK(sum.at_seconds == 8);
  CHECK(sum.seconds == 8);
  CHECK(sum.splits_per_second() == 10);  // 80 in 8 s.
  CHECK(sum.trainer_wait_seconds == 1);
  CHECK(sum.memory_peak == 90);
  CHECK(sum.prefetch_fill == Approx(0.8));  // (2 × 0.2 + 6 × 1) / 8
  CHECK(sum.stages[0].actors == 5);
  CHECK(sum.stages[0].cpu_seconds == 24);
  CHECK(sum.stages[0].done == 68);
  CHECK(sum.stages[0].queue_fill == Approx(0.2));  // (2 × 0.5 + 6 × 0.1) / 8
}

}  // namespace
}  // namespace forebay
