#include "trainer/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/random.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

Quality quality_of(std::vector<float> scores, std::vector<float> labels) {
  Evaluation evaluation;
  REQUIRE(evaluation.add(scores, labels));
  return evaluation.finish();
}

}  // namespace

TEST_CASE("the auc counts pairs in the right order, ties half", "[trainer][evaluation]") {
  // Positives 3, 1; negatives 2, 1, 0. Pairs: 3 beats all three; 1 beats 0, ties with 1, loses
  // to 2: 3 + 1.5 of 6.
  CHECK(quality_of({3, 2, 1, 1, 0}, {1, 0, 1, 0, 0}).auc == Approx(0.75));
  CHECK(quality_of({5, 5, 5, 5}, {1, 0, 0, 1}).auc == Approx(0.5));
  CHECK(quality_of({0, 1}, {1, 0}).auc == Approx(0.0));
}

TEST_CASE("the auc agrees with counting every pair", "[trainer][evaluation]") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4);
  INFO("seed " << seed);
  Random random(seed);
  std::vector<float> positives(1 + random.below(60)), negatives(1 + random.below(60));
  for (float& score : positives) score = static_cast<float>(random.below(20));
  for (float& score : negatives) score = static_cast<float>(random.below(15));
  double wins = 0;
  for (float high : positives) {
    for (float low : negatives) wins += high > low ? 1 : high == low ? 0.5 : 0;
  }
  std::sort(positives.begin(), positives.end());
  std::sort(negatives.begin(), negatives.end());
  const auto pairs = static_cast<double>(positives.size() * negatives.size());
  CHECK(auc_of_sorted(positives, negatives) == Approx(wins / pairs));
}

TEST_CASE("the log loss is the mean cost of each row's logit", "[trainer][evaluation]") {
  // logit ln 3: chance 3/4. Rows: -ln(3/4), -ln(1/4), and ln 2 at logit 0.
  const float ln3 = std::log(3.0f);
  const double expected = (-std::log(0.75) - std::log(0.25) + std::log(2.0)) / 3;
  CHECK(quality_of({ln3, ln3, 0}, {1, 0, 1}).log_loss.value() == Approx(expected));
  CHECK(log_loss_of(-1000, true) == Approx(1000));
  CHECK(log_loss_of(1000, true) == 0);
}

TEST_CASE("one class alone has no auc", "[trainer][evaluation]") {
  const Quality only_clicks = quality_of({1, 2}, {1, 1});
  CHECK_FALSE(only_clicks.auc);
  CHECK(only_clicks.log_loss);
  CHECK_FALSE(quality_of({1}, {0}).auc);
  CHECK_FALSE(Evaluation().finish().log_loss);
}

TEST_CASE("a score that is no number is refused", "[trainer][evaluation]") {
  const std::vector<float> scores = {std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> labels = {1};
  CHECK_FALSE(Evaluation().add(scores, labels));
  const std::vector<float> half = {0.5};
  CHECK_FALSE(Evaluation().add(labels, half));
}
