#include <algorithm>
#include <vector>

#include "trainer/train_loop.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("the loss is the last one until 1 % of the steps are two", "[trainer][loss]") {
  LossWindow window;
  CHECK_FALSE(window.mean());
  for (int step = 1; step <= 199; ++step) window.add(step);
  CHECK(window.mean() == Approx(199));
  window.add(200);
  CHECK(window.mean() == Approx(199.5));
}

TEST_CASE("the loss is the mean over the last 1 % of all steps", "[trainer][loss]") {
  std::vector<double> losses;
  LossWindow window;
  for (int step = 1; step <= 2345; ++step) {
    losses.push_back(step * 37 % 101);
    window.add(losses.back());
    const std::size_t size = std::max<std::size_t>(1, losses.size() / 100);
    double sum = 0;
    for (std::size_t i = losses.size() - size; i < losses.size(); ++i) sum += losses[i];
    REQUIRE(window.mean().value() == Approx(sum / static_cast<double>(size)));
  }
}

TEST_CASE("a window continues from a saved one", "[trainer][loss]") {
  LossWindow whole;
  for (int step = 0; step < 500; ++step) whole.add(step);
  LossWindow resumed(whole.steps(), whole.last());
  for (int step = 500; step < 900; ++step) {
    whole.add(step);
    resumed.add(step);
  }
  CHECK(resumed == whole);
}
