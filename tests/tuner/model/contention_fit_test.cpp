#include "tuner/model/contention_fit.h"

#include <cmath>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

constexpr StageCost kContended{.seconds = 0.2, .alpha = 0.02, .beta = 0.0015};
constexpr double kLittle = 1e-5;  // variance
constexpr double kSome = 2e-3;

TEST_CASE("one actor shows the time of a split and nothing about contention", "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 0.2, kLittle);
  CHECK(fit.mean().seconds_with(1) == Approx(0.2).epsilon(1e-6));
  CHECK(fit.spread(1) < 0.01);
  CHECK(fit.spread(40) > 0.3);
}

TEST_CASE("a few numbers of actors show how a stage contends", "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 40.0, 26.0, 20.0, 30.0, 26.0}) {
    fit.observe(actors, kContended.seconds_with(actors), kLittle);
  }
  for (const double actors : {15.0, 26.0, 40.0}) {
    INFO(actors);
    CHECK(fit.mean().seconds_with(actors) == Approx(kContended.seconds_with(actors)).epsilon(0.05));
  }
  CHECK(fit.spread(26) < 0.03);
}

TEST_CASE("the spread with the actors last seen is that with about as many", "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 0.2, kLittle);
  fit.observe(40, 0.5, 0.3);
  CHECK(fit.spread(40) > 0.1);
  CHECK(fit.spread(40) == Approx(fit.spread(40 + 1e-6)));
  fit.outlast(30, 0.9);
  CHECK(fit.spread(30) == Approx(fit.spread(30 + 1e-6)));
}

TEST_CASE("times explained by more actors are not a change of the work", "[tuner][model]") {
  ContentionFit fit;
  CHECK_FALSE(fit.observe(1, 0.2, kLittle));
  CHECK_FALSE(fit.observe(26, kContended.seconds_with(26), kLittle));
  CHECK(fit.mean().seconds == Approx(0.2).epsilon(0.02));
}

TEST_CASE("a stage that hardly scales is recognized, not taken for work that keeps changing",
          "[tuner][model]") {
  for (const StageCost& strong :
       {StageCost{.seconds = 0.2, .alpha = 0.5}, StageCost{.seconds = 0.2, .beta = 0.03}}) {
    INFO(strong.alpha << " " << strong.beta);
    ContentionFit fit;
    int changes = 0;
    for (const double actors : {1.0, 20.0, 4.0, 2.0, 8.0, 3.0}) {
      changes += fit.observe(actors, strong.seconds_with(actors), kSome) ? 1 : 0;
    }
    CHECK(changes == 0);
    for (const double actors : {2.0, 8.0}) {
      CHECK(fit.mean().seconds_with(actors) == Approx(strong.seconds_with(actors)).epsilon(0.15));
    }
  }
}

TEST_CASE("four times the work is a change, and the knowledge of contention stays",
          "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 10.0, 20.0, 30.0, 26.0}) {
    fit.observe(actors, kContended.seconds_with(actors), kLittle);
  }
  StageCost heavier = kContended;
  heavier.seconds *= 4;
  CHECK(fit.observe(26, 0.6 * heavier.seconds_with(26), kLittle));  // an interval with both
  CHECK(fit.observe(26, heavier.seconds_with(26), kLittle));
  CHECK_FALSE(fit.observe(26, heavier.seconds_with(26), kLittle));
  CHECK(fit.mean().seconds_with(12) == Approx(heavier.seconds_with(12)).epsilon(0.05));
}

TEST_CASE("a first split by chance half as long is no contention for good", "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 0.07, 0.01);  // two splits, both short
  int changes = 0;
  for (const double actors : {4.0, 11.0, 3.0, 10.0, 4.0, 11.0, 3.0, 10.0}) {
    changes += fit.observe(actors, 0.14, kLittle) ? 1 : 0;
  }
  CHECK(changes <= 3);
  CHECK(fit.mean().seconds_with(3) == Approx(0.14).epsilon(0.1));
  CHECK(fit.mean().seconds_with(11) == Approx(0.14).epsilon(0.1));
}

TEST_CASE("noise of the declared size is not a change", "[tuner][model]") {
  ContentionFit fit;
  for (int i = 0; i < 40; ++i) {
    const double noisy = 0.2 * (i % 2 == 0 ? 1.15 : 0.85);
    CHECK_FALSE(fit.observe(10, noisy, 0.15 * 0.15));
  }
  CHECK(fit.mean().seconds_with(10) == Approx(0.2).epsilon(0.05));
}

TEST_CASE("the middle of the samples is the mean's neighbourhood, the tails are its doubts",
          "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 0.2, kLittle);
  CHECK(fit.sample(0.1).slow(40) == 1.0);  // half of the prior is no contention
  CHECK(fit.sample(0.99).slow(40) > 2.0);
}

TEST_CASE("splits that take longer than expected show contention before one is done",
          "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 0.2, kLittle);
  const double before = fit.mean().seconds_with(60);
  fit.outlast(60, 4.0);
  CHECK(before < 1.5);
  CHECK(fit.mean().seconds_with(60) > 3.5);
  CHECK(fit.sample(0.5).seconds_with(1) == Approx(0.2).epsilon(0.02));
}

TEST_CASE("splits that outlast what is well known show more work, not contention",
          "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 20.0, 40.0, 20.0, 4.0, 4.0}) fit.observe(actors, 0.4, kLittle);
  for (const double waited : {2.0, 4.0, 6.0, 8.0}) fit.outlast(17, waited);
  CHECK(fit.mean().slow(17) < 1.2);
  CHECK(fit.mean().seconds_with(17) > 4);
}

TEST_CASE("a change that each noisy interval hides shows in several", "[tuner][model]") {
  ContentionFit fit;
  const double noisy = 0.35 * 0.35;
  for (int i = 0; i < 30; ++i) fit.observe(25, 2.2, noisy);
  bool changed = false;
  for (int i = 0; i < 4; ++i) changed = fit.observe(25, 6.6, noisy) || changed;
  CHECK(changed);
  CHECK(fit.mean().seconds_with(25) == Approx(6.6).epsilon(0.05));
}

TEST_CASE("what follows a change is no doubt about contention", "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 20.0, 40.0, 20.0, 4.0, 4.0}) fit.observe(actors, 0.4, kLittle);
  fit.observe(4, 2.0, kLittle);
  fit.observe(4, 3.0, kLittle);
  fit.observe(20, 6.0, kLittle);  // the rest of the same change, with the actors that follow it
  CHECK(fit.mean().slow(40) < 1.3);
}

TEST_CASE("a doubt keeps the time that is measured and brings the prior back", "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 40.0, 26.0, 20.0, 26.0, 26.0}) {
    fit.observe(actors, kContended.seconds_with(actors), kLittle);
  }
  fit.question(26);
  CHECK(fit.mean().seconds_with(26) == Approx(kContended.seconds_with(26)).epsilon(0.01));
  CHECK(fit.spread(60) > 0.2);
}

TEST_CASE("evidence is for the belief that expected the times seen", "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 40.0, 26.0, 20.0, 26.0, 26.0}) {
    fit.observe(actors, kContended.seconds_with(actors), kLittle);
  }
  fit.weigh();
  for (const bool right : {true, false}) {
    ContentionFit sure = fit;
    ContentionFit doubted = fit;
    doubted.question(26);
    const double seconds = kContended.seconds_with(right ? 40 : 26);  // with 40 actors
    sure.observe(40, seconds, kSome);
    doubted.observe(40, seconds, kSome);
    CHECK((sure.evidence() > doubted.evidence()) == right);
  }
}

TEST_CASE("the risk of long splits is that of the hypotheses", "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 0.2, kLittle);
  CHECK(fit.risk(1, 1.01) == 0);
  CHECK(fit.risk(40, 1.01) == Approx(0.5).epsilon(0.01));  // half of the prior is no contention
  CHECK(fit.risk(40, 1e6) == 0);
}

TEST_CASE("the risk of long splits is the share of the samples that are as long",
          "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 10.0}) fit.observe(actors, 0.2 * (1 + actors / 20), 0.1);
  constexpr int kSamples = 20'000;
  for (const double actors : {2.0, 30.0, 200.0}) {
    for (const double times : {1.0, 1.5, 4.0, 60.0}) {
      int longer = 0;
      for (int i = 0; i < kSamples; ++i) {
        longer += fit.sample((i + 0.5) / kSamples).slow(actors) > times ? 1 : 0;
      }
      INFO(actors << " actors, " << times << " times");
      CHECK(fit.risk(actors, times) == Approx(1.0 * longer / kSamples).margin(2e-4));
    }
  }
}

TEST_CASE("a scale that is learned anew keeps what is known of contention", "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 40.0, 26.0, 20.0, 26.0, 26.0}) {
    fit.observe(actors, kContended.seconds_with(actors), kLittle);
  }
  const double slow = fit.mean().slow(40);
  fit.renew(26, 5, kLittle);
  CHECK(fit.mean().seconds_with(26) == Approx(5).epsilon(0.001));
  CHECK(fit.mean().slow(40) == Approx(slow).epsilon(0.01));
}

TEST_CASE("a split that outlasts all that was expected shows that the work has grown",
          "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 0.2, kLittle);
  fit.outlast(1, 8);
  CHECK(fit.mean().seconds_with(1) == Approx(8).epsilon(0.05));
}

TEST_CASE("the interval of a change held both regimes: the next one is believed alone",
          "[tuner][model]") {
  ContentionFit fit;
  for (int i = 0; i < 5; ++i) fit.observe(1, 0.1, kSome);
  CHECK(fit.observe(1, 0.36, kSome));
  CHECK(fit.observe(1, 0.4, kSome));
  CHECK(fit.mean().seconds_with(1) == Approx(0.4).epsilon(0.005));
  CHECK_FALSE(fit.observe(1, 0.41, kSome));
}

TEST_CASE("an interval that is no news shows the time, not the contention", "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 1, 1e-4);
  ContentionFit none = fit;
  for (int i = 0; i < 3; ++i) {
    fit.observe(4, 1.15, 1e-4);
    none.observe(4, 1.15, 1e-4, 0);
  }
  CHECK(fit.mean().slow(4) == Approx(1.15).epsilon(0.02));
  CHECK(none.mean().slow(4) < 1.1);
  CHECK(none.mean().seconds_with(4) == Approx(1.15).epsilon(0.02));
}

TEST_CASE("half the news is half the evidence", "[tuner][model]") {
  ContentionFit fit;
  fit.observe(1, 1, kSome);
  fit.weigh();
  ContentionFit half = fit;
  fit.observe(1, 1.05, kSome);
  half.observe(1, 1.05, kSome, 0.5);
  REQUIRE(fit.evidence() < -0.1);
  CHECK(half.evidence() == Approx(fit.evidence() / 2));
}

TEST_CASE("a fit is restored as it was saved, and a damaged one is refused", "[tuner][model]") {
  ContentionFit fit;
  for (const double actors : {1.0, 20.0})
    fit.observe(actors, kContended.seconds_with(actors), 1e-4);
  ContentionFit again;
  REQUIRE(again.restore(fit.save()));
  CHECK(again.mean().seconds_with(20) == Approx(fit.mean().seconds_with(20)).epsilon(1e-4));

  std::vector<double> damaged = fit.save();
  damaged[3] = NAN;
  CHECK_FALSE(again.restore(damaged));
  damaged = fit.save();
  damaged[0] = -1;
  CHECK_FALSE(again.restore(damaged));
  damaged.pop_back();
  CHECK_FALSE(again.restore(damaged));
}

}  // namespace
}  // namespace forebay::tuner
