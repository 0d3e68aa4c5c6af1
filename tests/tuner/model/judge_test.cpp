#include "tuner/model/judge.h"

#include <cmath>

#include "tests/tuner/model/measured_pipeline.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

const PipelineDescription kStages = planned_stages();

// A judge and all that it refers to.
struct JudgedStages {
  explicit JudgedStages(const PipelineEstimate& known, RewardMode reward = RewardMode::kUsable,
                        std::uint64_t memory_bytes = 10'000)
      : worlds(known), judge(kStages, reward, {12, memory_bytes}, worlds) {}

  PossibleWorlds worlds;
  Judge judge;

  double value(const Allocation& allocation) const { return judge.value(judge.judged(allocation)); }
};

PipelineEstimate doubtful() { return measured_once(working(2, 0.1, 0.4), working(2, 0.2, 0.4)); }

TEST_CASE("an allocation that is worth more than the least is never excluded", "[tuner][model]") {
  for (const auto& known : {measured(0.6, 1000), measured(0.6, 18), doubtful()}) {
    for (const RewardMode reward : {RewardMode::kUsable, RewardMode::kPaper}) {
      const JudgedStages all(known, reward, 1000);
      for (std::uint32_t load = 1; load <= 64; load += 7) {
        for (std::uint32_t decode = 1; decode <= 64; decode += 7) {
          const Allocation allocation{{load, decode}, 1};
          const double value = all.value(allocation);
          INFO(load << " and " << decode);
          CHECK(all.judge.may_exceed(allocation, value - 1e-9 * std::abs(value)));
        }
      }
    }
  }
}

TEST_CASE("an allocation that no noise-free rate makes worth it is excluded", "[tuner][model]") {
  const JudgedStages fed(measured(0.6, 18));
  const double enough = fed.value({{2, 4}, 1});
  CHECK_FALSE(fed.judge.may_exceed({{1, 1}, 1}, enough));    // too slow
  CHECK_FALSE(fed.judge.may_exceed({{40, 40}, 1}, enough));  // no faster, and dearer
}

TEST_CASE("an allocation of a large price is judged in any case", "[tuner][model]") {
  // 100 fixed bytes, 2 actors and an item of prefetch are 125 of 500 bytes: a price of 0.25.
  const JudgedStages paper(measured(0.6, 18), RewardMode::kPaper, 500);
  CHECK(paper.judge.may_exceed({{1, 1}, 1}, 1e9));
  const JudgedStages roomy(measured(0.6, 18), RewardMode::kPaper, 5000);
  CHECK_FALSE(roomy.judge.may_exceed({{1, 1}, 1}, 1e9));
}

TEST_CASE("more actors for the same rate are worth less", "[tuner][model]") {
  const JudgedStages fed(measured(0, 18));
  CHECK(fed.value({{30, 30}, 1}) < fed.value({{4, 8}, 1}));
}

TEST_CASE("doubt has a value of its own", "[tuner][model]") {
  const JudgedStages unsure(doubtful());
  Planned planned = unsure.judge.judged({{30, 30}, 1});
  REQUIRE(planned.uncertainty > 0.05);
  const double value = unsure.judge.value(planned);
  planned.uncertainty = 0;
  CHECK(unsure.judge.value(planned) < value);
}

}  // namespace
}  // namespace forebay::tuner
