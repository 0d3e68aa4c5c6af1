#include "tuner/model/possible_worlds.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tests/tuner/model/measured_pipeline.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr std::array<std::array<std::uint32_t, 2>, 4> kActors{{{1, 1}, {7, 3}, {40, 8}, {64, 64}}};

// The rate of each world, by the functions of one world.
void check_rates(const PipelineEstimate& known) {
  const PossibleWorlds worlds(known);
  std::vector<double> noise;
  for (const StageEstimate& stage : known.stages()) noise.push_back(stage.noise());
  for (const auto& actors : kActors) {
    const PossibleWorlds::Rates steady = worlds.steady(actors);
    const PossibleWorlds::Rates expected = worlds.expected(actors, steady);
    for (std::size_t w = 0; w < PossibleWorlds::kWorlds; ++w) {
      const auto& costs = worlds.costs(w);
      INFO("world " << w << ", " << actors[0] << " and " << actors[1] << " actors");
      CHECK(steady[w] == steady_rate(costs, actors, known.cpus(), known.trainer_rate()));
      CHECK(expected[w] == expected_rate(costs, noise, actors,
                                         {known.cpus(), known.trainer_rate(), known.loss_scale()}));
    }
  }
}

TEST_CASE("all worlds together have the rates of each alone", "[tuner][model]") {
  check_rates(measured(0.3, 1000));
  check_rates(measured_once(working(1, 0.1, 0.05), working(1, 0.4, 0.5)));
}

TEST_CASE("the trainer bounds the rates of all worlds", "[tuner][model]") {
  const PipelineEstimate known = measured(0.3, 18);
  check_rates(known);
  for (const double rate : PossibleWorlds(known).steady(kActors[3])) {
    CHECK(rate == known.trainer_rate());
  }
}

TEST_CASE("a rate limit bounds the rates of all worlds", "[tuner][model]") {
  PipelineEstimate known(planned_stages());
  for (const double seconds : {0.02, 0.1, 0.1}) {
    Observation seen;
    seen.seconds = 2;
    seen.limits = {200, 10'000};
    seen.stages = {working(8, seconds, 0.3), working(8, 0.02, 0.3)};
    seen.stages[0].done_cpu_seconds = 400 * 0.02;  // the rest of `seconds` waits for a disk
    known.observe(seen);
  }
  REQUIRE(known.mean()[0].max_rate > 0);
  check_rates(known);
}

TEST_CASE("worlds differ where little was measured", "[tuner][model]") {
  const PossibleWorlds worlds(measured_once(working(1, 0.1, 0.05), working(1, 0.1, 0.05)));
  const PossibleWorlds::Rates rates = worlds.steady(kActors[3]);
  CHECK(*std::ranges::min_element(rates) < 0.5 * *std::ranges::max_element(rates));
}

}  // namespace
}  // namespace forebay::tuner
