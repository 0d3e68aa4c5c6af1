#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/random.h"
#include "trainer/evaluation/evaluation.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

struct BothWays {
  StreamingAuc streaming;
  std::vector<float> positives, negatives;

  void add(float score, bool positive) {
    streaming.add(score, positive);
    (positive ? positives : negatives).push_back(score);
  }
  double exact() {
    std::sort(positives.begin(), positives.end());
    std::sort(negatives.begin(), negatives.end());
    return auc_of_sorted(positives, negatives).value();
  }
};

}  // namespace

TEST_CASE("a streaming auc is within its error of the exact one, whatever the scores",
          "[trainer][evaluation]") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  Random random(seed);
  const auto uniform = [&] { return static_cast<double>(random.below(1 << 30)) / (1 << 30); };
  const std::vector<std::function<double(bool)>> scores = {
      [&](bool positive) { return uniform() * 6 - 4 + (positive ? 0.7 : 0); },
      // All in one bin: 1 and the next 2000 floats.
      [&](bool) { return 1 + static_cast<double>(random.below(200)) * 0x1p-23; },
      // All in one bin, in the right order or in the wrong one.
      [&](bool positive) { return positive ? 1 + 0x1p-23 : 1.0; },
      [&](bool positive) { return positive ? 1.0 : 1 + 0x1p-23; },
      // Over all magnitudes, both signs.
      [&](bool) { return (uniform() - 0.5) * std::pow(10, uniform() * 70 - 35); },
      [&](bool) { return static_cast<double>(random.below(3)) - 1; }};
  for (std::size_t kind = 0; kind < scores.size(); ++kind) {
    INFO("seed " << seed << ", scores " << kind);
    BothWays both;
    for (int row = 0; row < 20000; ++row) {
      const bool positive = random.below(5) == 0;
      both.add(static_cast<float>(scores[kind](positive)), positive);
    }
    const auto area = both.streaming.area();
    REQUIRE(area);
    CHECK(std::abs(area->auc - both.exact()) <= area->error + 1e-12);
    CHECK(area->error <= 0.5);
  }
}

TEST_CASE("the error of a streaming auc is half the share of pairs in one bin",
          "[trainer][evaluation]") {
  // Positives 1, 2; negatives 1, 0: of four pairs one shares a bin, three are won.
  StreamingAuc auc;
  auc.add(1, true);
  auc.add(2, true);
  auc.add(1, false);
  auc.add(0, false);
  CHECK(auc.area()->auc == Approx(3.5 / 4));
  CHECK(auc.area()->error == Approx(0.5 / 4));
}

TEST_CASE("the AUC of common scores is exact to a ten-thousandth", "[trainer][evaluation]") {
  Random random(9);
  BothWays both;
  for (int row = 0; row < 50000; ++row) {
    double score = -3;  // Approximately normal: the sum of twelve uniform values.
    for (int i = 0; i < 12; ++i) score += static_cast<double>(random.below(1000)) / 1000 - 0.5;
    const bool positive = random.below(20) == 0;
    both.add(static_cast<float>(score + (positive ? 1 : 0)), positive);
  }
  CHECK(both.streaming.area()->error < 3e-4);
  CHECK(both.streaming.area()->auc == Approx(both.exact()).margin(1e-5));
}

TEST_CASE("bins keep the order of scores, and both zeros are one score", "[trainer][evaluation]") {
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  // Each value is above the one before it: a positive beats the negative below.
  const std::vector<float> rising = {-most, -1, -1e-20F, 0, 1e-20F, 1, most};
  for (std::size_t i = 1; i < rising.size(); ++i) {
    StreamingAuc auc;
    auc.add(rising[i], true);
    auc.add(rising[i - 1], false);
    INFO(rising[i]);
    CHECK(auc.area()->auc == 1);
    CHECK(auc.area()->error == 0);
  }
  StreamingAuc zeros;
  zeros.add(0.0F, true);
  zeros.add(-0.0F, false);
  CHECK(zeros.area()->auc == 0.5);
  StreamingAuc one_class;
  one_class.add(least, true);
  CHECK_FALSE(one_class.area());
}
