#include "tuner/agent/network.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

constexpr Network::Shape kSmall{.inputs = 3, .hidden = 4, .outputs = 2};

TEST_CASE("a network of zeros puts out zeros", "[tuner][agent]") {
  const Network network(kSmall);
  const std::array<float, 3> input{1, 2, 3};
  std::array<float, 2> output{9, 9};
  network.forward(input, output);
  CHECK(output == std::array<float, 2>{0, 0});
}

TEST_CASE("a hidden layer passes only values above zero", "[tuner][agent]") {
  Network network({.inputs = 1, .hidden = 1, .outputs = 1});
  // w1 b1 w2 b2 w3 b3: 2x - 1, then 3y + 0, then 1z + 5.
  network.weights() = {2, -1, 3, 0, 1, 5};
  std::array<float, 1> output{};
  network.forward(std::array<float, 1>{2}, output);
  CHECK(output[0] == 14);  // 3·(2·2 - 1) + 5
  network.forward(std::array<float, 1>{0}, output);
  CHECK(output[0] == 5);
}

TEST_CASE("a wide layer sums every input for every output", "[tuner][agent]") {
  constexpr std::uint32_t kWidth = 23;  // no multiple of a power of two
  Network network({.inputs = 2, .hidden = 1, .outputs = kWidth});
  // The hidden layers pass the sum of the inputs on; output o is o times that sum, plus o / 2.
  network.weights() = {1, 1, 0, 1, 0};
  for (std::uint32_t o = 0; o < kWidth; ++o) network.weights().push_back(static_cast<float>(o));
  for (std::uint32_t o = 0; o < kWidth; ++o) {
    network.weights().push_back(0.5F * static_cast<float>(o));
  }
  std::array<float, kWidth> output{};
  network.forward(std::array<float, 2>{1, 2}, output);
  for (std::uint32_t o = 0; o < kWidth; ++o) CHECK(output[o] == 3.5F * static_cast<float>(o));
}

TEST_CASE("gradients are those that differences show", "[tuner][agent]") {
  Random random(3);
  Network network(kSmall, random);
  const std::array<float, 3> input{0.5F, -1, 2};
  const std::array<float, 2> slope{1, -2};  // of loss = out0 - 2·out1
  const auto loss = [&] {
    std::array<float, 2> output{};
    network.forward(input, output);
    return output[0] - 2 * output[1];
  };
  Network::Trace trace;
  std::array<float, 2> output{};
  network.forward(input, output, &trace);
  std::vector<float> gradient(network.weights().size());
  network.backward(trace, slope, gradient);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const float kept = network.weights()[i];
    constexpr float kStep = 1e-2F;
    network.weights()[i] = kept + kStep;
    const float above = loss();
    network.weights()[i] = kept - kStep;
    const float below = loss();
    network.weights()[i] = kept;
    INFO("weight " << i);
    CHECK(gradient[i] == Approx((above - below) / (2 * kStep)).margin(2e-3));
  }
}

TEST_CASE("Adam's first step has the size of its rate", "[tuner][agent]") {
  Adam adam(2, 0.1F);
  std::vector<float> weights{1, 1};
  adam.step(weights, std::vector<float>{5, -0.01F});
  CHECK(weights[0] == Approx(0.9));  // whatever the gradient's size
  CHECK(weights[1] == Approx(1.1).epsilon(1e-4));
}

}  // namespace
}  // namespace forebay::tuner
