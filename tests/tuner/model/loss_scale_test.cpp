#include "tuner/model/pipeline_estimate.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

TEST_CASE("without measurements the loss is three times the formula's", "[tuner][model]") {
  CHECK(LossScale().value() == Approx(3));
}

TEST_CASE("losses as predicted bring the scale to one", "[tuner][model]") {
  LossScale scale;
  for (int i = 0; i < 300; ++i) scale.observe(0.02, 0.02);
  CHECK(scale.value() == Approx(1).margin(0.1));
}

TEST_CASE("larger losses than predicted raise the scale, within bounds", "[tuner][model]") {
  LossScale scale;
  for (int i = 0; i < 300; ++i) scale.observe(0.005, 0.04);
  CHECK(scale.value() > 5);
  for (int i = 0; i < 300; ++i) scale.observe(0, 0.5);
  CHECK(scale.value() <= 20);
}

}  // namespace
}  // namespace forebay::tuner
