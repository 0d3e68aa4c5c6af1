#include "tuner/model/carriers.h"

#include <array>
#include <vector>

#include "tests/tuner/model/measured_pipeline.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Actors = std::vector<std::uint32_t>;

constexpr std::uint64_t kMuch = 1 << 20;                // bytes
constexpr std::uint64_t kEighteen = 100 + 5 + 18 * 10;  // fixed, an item of prefetch, and actors

const PipelineDescription kCarried = planned_stages();
// For 40 splits/s: 4 actors and 8.
constexpr std::array kFourAndEight{StageCost{.seconds = 0.1}, StageCost{.seconds = 0.2}};

TEST_CASE("stages get the fewest actors for a rate and its headroom", "[tuner][model]") {
  Carriers carriers(kCarried, kFourAndEight, kMuch, 40);
  CHECK(carriers.fitting(1) == Allocation{Actors{4, 8}, 1});
  CHECK(carriers.fitting(2) == Allocation{Actors{8, 16}, 1});
  CHECK(carriers.fitting(1.1) == Allocation{Actors{5, 9}, 1});  // 4.4 and 8.8
}

TEST_CASE("a stage that cannot reach the rate has the actors with which it is fastest",
          "[tuner][model]") {
  // n / (1 + 0.06 n (n - 1)) is largest with 4 actors: 2.33, after 2.21 with 3; with 5 it is 2.27.
  const std::array costs{StageCost{.seconds = 0.1, .beta = 0.06}, StageCost{.seconds = 0.2}};
  Carriers carriers(kCarried, costs, kMuch, 40);
  CHECK(carriers.fitting(1) == Allocation{Actors{4, 8}, 1});
}

TEST_CASE("a stage at its rate limit gets little headroom over the limit", "[tuner][model]") {
  const std::array costs{StageCost{.seconds = 0.1, .max_rate = 40}, StageCost{.seconds = 0.2}};
  Carriers carriers(kCarried, costs, kMuch, 40);
  CHECK(carriers.fitting(3) == Allocation{Actors{6, 24}, 1});  // 1.3 times 40/s, times 0.1 s
}

TEST_CASE("short memory leaves the headroom that fits, whatever was asked before",
          "[tuner][model]") {
  // Of eighteen actors 6 and 12 carry 1.5 times the rate; 1.51 takes 7 and 13.
  Carriers many(kCarried, kFourAndEight, kEighteen, 40);
  for (const double headroom : {1.0, 1.4, 1.6, 3.0, 1.6, 2.0, 1.0}) {
    INFO("headroom " << headroom);
    Carriers fresh(kCarried, kFourAndEight, kEighteen, 40);
    CHECK(many.fitting(headroom) == fresh.fitting(headroom));
  }
  CHECK(many.fitting(1.4) == Allocation{Actors{6, 12}, 1});
  CHECK(many.fitting(1.6) == Allocation{Actors{6, 12}, 1});
  CHECK(many.fitting(3) == Allocation{Actors{6, 12}, 1});
}

TEST_CASE("a bound of all actors leaves the headroom that fits, too", "[tuner][model]") {
  PipelineDescription few = kCarried;
  few.max_actors = 9;
  Carriers carriers(few, kFourAndEight, kMuch, 40);
  CHECK(carriers.fitting(2) == Allocation{Actors{3, 6}, 1});
}

TEST_CASE("where nothing fits a stage has one actor", "[tuner][model]") {
  Carriers carriers(kCarried, kFourAndEight, 110, 40);
  CHECK(carriers.fitting(2).actors == Actors{1, 1});
}

}  // namespace
}  // namespace forebay::tuner
