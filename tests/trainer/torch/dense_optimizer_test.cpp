#include <cmath>

#include "trainer/torch/kernels/optimizer.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("plain descent goes down the gradient", "[trainer][optimizer]") {
  DenseOptimizer optimizer(TrainerSpec::Optimizer::kSgd, 2);
  std::vector<float> weights = {1, 2};
  optimizer.begin_step(0.5);
  optimizer.update(0, std::vector<float>{2, -4}, weights.data());
  CHECK(weights == std::vector<float>{0, 4});
  CHECK(optimizer.moments().empty());
}

TEST_CASE("adagrad divides by the root of the squares so far", "[trainer][optimizer]") {
  // 3² + 4² = 5²: the steps are 3/3 and 4/5.
  DenseOptimizer optimizer(TrainerSpec::Optimizer::kAdagrad, 3);
  float weight = 10;
  for (const float gradient : {3.0f, 4.0f}) {
    optimizer.begin_step(1);
    optimizer.update(2, {&gradient, 1}, &weight);
  }
  CHECK(weight == Approx(10 - 1 - 0.8));
  CHECK(optimizer.moments()[0].values[2] == 25);
  CHECK(optimizer.moments()[0].values[0] == 0);
}

TEST_CASE("adam's means are corrected for their start at nothing", "[trainer][optimizer]") {
  // Step 1: means 0.1·2 and 0.001·4, corrected 2 and 4: a step of the rate. Step 2, gradient 0:
  // means 0.18 and 0.003996, corrected 0.18/0.19 and 0.003996/0.001999.
  DenseOptimizer optimizer(TrainerSpec::Optimizer::kAdam, 1);
  float weight = 0;
  float gradient = 2;
  optimizer.begin_step(0.5);
  optimizer.update(0, {&gradient, 1}, &weight);
  CHECK(weight == Approx(-0.5));
  gradient = 0;
  optimizer.begin_step(0.5);
  optimizer.update(0, {&gradient, 1}, &weight);
  CHECK(weight == Approx(-0.5 - 0.5 * (0.18 / 0.19) / std::sqrt(0.003996 / 0.001999)));
  CHECK(optimizer.moments()[0].values[0] == Approx(0.18));
  CHECK(optimizer.moments()[1].values[0] == Approx(0.003996));
  std::vector<MemoryTensor> count;
  optimizer.append_count(count);
  REQUIRE(count.size() == 1);
  CHECK(*reinterpret_cast<const std::int64_t*>(count[0].memory.data()) == 2);
}

TEST_CASE("gradients above the most are scaled down to it", "[trainer][optimizer]") {
  CHECK(clip_factor(3, 0) == 1);
  CHECK(clip_factor(3, 4) == 1);
  CHECK(clip_factor(8, 4) == Approx(0.5));
  std::vector<float> values = {3, -4};
  CHECK(sum_of_squares(values) == 25);
  scale(values, 0.5f);
  CHECK(values == std::vector<float>{1.5, -2});
}

TEST_CASE("shares are added to the first", "[trainer][optimizer]") {
  std::vector<float> sum = {1, 2};
  const std::vector<float> second = {10, 20};
  const std::vector<float> third = {100, 200};
  const std::vector<const float*> rest = {second.data(), third.data()};
  add_shares(sum, rest);
  CHECK(sum == std::vector<float>{111, 222});
}
