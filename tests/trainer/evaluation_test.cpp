#include "trainer/evaluation/evaluation.h"

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

TEST_CASE("rows of one class have no auc", "[trainer][evaluation]") {
  const Quality only_clicks = quality_of({1, 2}, {1, 1});
  CHECK_FALSE(only_clicks.auc);
  CHECK(only_clicks.log_loss);
  CHECK_FALSE(quality_of({1}, {0}).auc);
  CHECK_FALSE(Evaluation().finish().log_loss);
}

TEST_CASE("the normalized entropy and the calibration of worked rows", "[trainer][evaluation]") {
  // One click in four rows; the model gives ln(1/3) to all of them, a chance of 1/4: the best
  // scores for a model that knows only the share of clicks.
  const float rare = std::log(1.0F / 3);
  const Quality knows_the_share = quality_of({rare, rare, rare, rare}, {1, 0, 0, 0});
  CHECK(knows_the_share.normalized_entropy.value() == Approx(1.0));
  CHECK(knows_the_share.calibration.value() == Approx(1.0));
  // Gives 1/2 to all: log loss ln 2 over the entropy of 1/4, and twice as many clicks as there are.
  const Quality says_half = quality_of({0, 0, 0, 0}, {0, 1, 0, 0});
  const double entropy = -0.25 * std::log(0.25) - 0.75 * std::log(0.75);
  CHECK(says_half.normalized_entropy.value() == Approx(std::log(2.0) / entropy));
  CHECK(says_half.calibration.value() == Approx(2.0));
  CHECK(entropy_of(0) == 0);
  CHECK(entropy_of(1) == 0);
  const Quality no_clicks = quality_of({1, 2}, {0, 0});
  CHECK_FALSE(no_clicks.calibration);
  CHECK_FALSE(no_clicks.normalized_entropy);
}

TEST_CASE("an automatic evaluation is exact up to a number of rows and streams the rest",
          "[trainer][evaluation]") {
  const auto most = static_cast<std::size_t>(Evaluation::kMostExactRows);
  std::vector<float> scores(most), labels(most);
  Random random(1);
  for (std::size_t row = 0; row < most; ++row) {
    labels[row] = static_cast<float>(random.below(2));
    scores[row] = static_cast<float>(random.below(1000)) / 500 + labels[row];
  }
  Evaluation exact(Evaluation::Auc::kExact), automatic(Evaluation::Auc::kAuto);
  REQUIRE(exact.add(scores, labels));
  REQUIRE(automatic.add(scores, labels));
  SECTION("at that number") { CHECK(automatic.finish() == exact.finish()); }
  SECTION("one more") {
    const std::vector<float> score = {0.5}, label = {1};
    REQUIRE(exact.add(score, label));
    REQUIRE(automatic.add(score, label));
    const Quality want = exact.finish();
    const Quality got = automatic.finish();
    CHECK(got.rows == most + 1);
    CHECK(got.positives == want.positives);
    CHECK(got.auc_error > 0);
    CHECK(std::abs(*got.auc - *want.auc) <= got.auc_error);
    CHECK(got.log_loss == want.log_loss);
  }
}

TEST_CASE("an evaluation reports the memory it takes beforehand", "[trainer][evaluation]") {
  using Auc = Evaluation::Auc;
  CHECK(Evaluation::bytes(Auc::kExact, 1'000'000'000) == 12'000'000'000);
  CHECK(Evaluation::bytes(Auc::kStreaming, 1'000'000'000) == std::uint64_t{16} << 20);
  CHECK(Evaluation::bytes(Auc::kAuto, 1000) == 12000);
  CHECK(Evaluation::bytes(Auc::kAuto, 1'000'000'000) == (std::uint64_t{12} << 20) + (16 << 20));
}

TEST_CASE("a score that is not finite and a label that is no class are refused by their row",
          "[trainer][evaluation]") {
  const std::vector<float> good = {0, 1};
  Evaluation evaluation;
  REQUIRE(evaluation.add(good, good));
  std::vector<float> scores = {0, 0}, labels = {1, 0};
  const std::string named = "row 4";
  SECTION("not a number") { scores[1] = std::numeric_limits<float>::quiet_NaN(); }
  SECTION("infinite") { scores[1] = -std::numeric_limits<float>::infinity(); }
  SECTION("half a class") { labels[1] = 0.5; }
  SECTION("neither class") { labels[1] = std::numeric_limits<float>::quiet_NaN(); }
  auto refused = evaluation.add(scores, labels);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK(refused.error().message.find(named) != std::string::npos);
}
