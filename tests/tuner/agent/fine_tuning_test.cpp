#include "tuner/agent/fine_tuning.h"

#include <array>
#include <vector>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr Network::Shape kSmall{.inputs = 3, .hidden = 4, .outputs = 2};
constexpr std::array<float, 3> kOne{0.5F, -1, 2};
constexpr std::array<float, 3> kOther{1, 2, -0.5F};

Network small() {
  Random random(3);
  return Network(kSmall, random);
}

// Gradient descent of all weights, of which only the last layer's are changed.
void descend(Network& network, const OutputTarget& target, float rate) {
  Network::Trace trace;
  std::array<float, 2> said{};
  network.forward(target.input, said, &trace);
  std::array<float, 2> slope{};
  slope[target.output] = said[target.output] - target.value;
  std::vector<float> gradient(network.weights().size());
  network.backward(trace, slope, gradient);
  for (std::size_t i = network.last_layer(); i < gradient.size(); ++i) {
    network.weights()[i] -= rate * gradient[i];
  }
}

TEST_CASE("fine-tuning is gradient descent of the last layer", "[tuner][agent]") {
  const std::array<OutputTarget, 2> targets{OutputTarget{kOne, 0, 3}, OutputTarget{kOther, 1, -2}};
  Network whole = small();
  for (int pass = 0; pass < 3; ++pass) {
    for (const OutputTarget& target : targets) descend(whole, target, 0.1F);
  }
  Network tuned = small();
  fine_tune(tuned, targets, {.passes = 3, .rate = 0.1F});
  CHECK(tuned.weights() == whole.weights());
  CHECK(tuned.weights() != small().weights());
}

TEST_CASE("fine-tuning for one output leaves the others as they are", "[tuner][agent]") {
  Network tuned = small();
  std::array<float, 2> before{};
  tuned.forward(kOne, before);
  const std::array<OutputTarget, 1> target{OutputTarget{kOne, 1, before[1] + 1}};
  fine_tune(tuned, target, {.passes = 200, .rate = 0.1F});
  std::array<float, 2> after{};
  tuned.forward(kOne, after);
  CHECK(after[0] == before[0]);
  CHECK(after[1] == Catch::Detail::Approx(before[1] + 1).epsilon(1e-3));
}

}  // namespace
}  // namespace forebay::tuner
