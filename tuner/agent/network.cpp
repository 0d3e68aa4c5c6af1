#include "tuner/agent/network.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

std::size_t size_of(const Network::Shape& shape) {
  const std::size_t hidden = shape.hidden;
  return (shape.inputs + 1) * hidden + (hidden + 1) * hidden + (hidden + 1) * shape.outputs;
}

// Sum of twelve uniforms: close enough to a normal, the same on every machine.
float normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return static_cast<float>(sum);
}

}  // namespace

Network::Network(Shape shape) : shape_(shape), weights_(size_of(shape), 0.0F) {}

Network::Network(Shape shape, Random& random) : Network(shape) {
  constexpr float kLastLayer = 0.1F;
  for (const Layer& layer : layers()) {
    float scale = std::sqrt(2.0F / static_cast<float>(layer.inputs));
    if (layer.weights == last_layer()) scale *= kLastLayer;
    for (std::size_t i = layer.weights; i < layer.biases; ++i) weights_[i] = scale * normal(random);
  }
}

std::array<Network::Layer, 3> Network::layers() const {
  std::array<Layer, 3> made{};
  const std::array<std::uint32_t, 4> widths{shape_.inputs, shape_.hidden, shape_.hidden,
                                            shape_.outputs};
  std::size_t at = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = {at, at + std::size_t{widths[i]} * widths[i + 1], widths[i], widths[i + 1]};
    at = made[i].biases + widths[i + 1];
  }
  return made;
}

std::size_t Network::last_layer() const { return layers()[2].weights; }

void Network::apply(const Layer& layer, std::span<const float> input, std::span<float> output,
                    bool relu) const {
  const float* bias = weights_.data() + layer.biases;
  std::copy(bias, bias + layer.outputs, output.begin());
  for (std::uint32_t i = 0; i < layer.inputs; ++i) {
    const float value = input[i];
    if (value == 0) continue;
    const float* row = weights_.data() + layer.weights + std::size_t{i} * layer.outputs;
    for (std::uint32_t o = 0; o < layer.outputs; ++o) output[o] += value * row[o];
  }
  if (!relu) return;
  for (std::uint32_t o = 0; o < layer.outputs; ++o) output[o] = std::max(0.0F, output[o]);
}

void Network::forward(std::span<const float> input, std::span<float> output, Trace* trace) const {
  thread_local Trace scratch;
  Trace& held = trace != nullptr ? *trace : scratch;
  held.input.assign(input.begin(), input.end());
  held.first.resize(shape_.hidden);
  held.second.resize(shape_.hidden);
  const auto stack = layers();
  apply(stack[0], held.input, held.first, true);
  apply(stack[1], held.first, held.second, true);
  apply(stack[2], held.second, output, false);
}

void Network::learn(const Layer& layer, std::span<const float> input,
                    std::span<const float> output_gradient, std::span<float> input_gradient,
                    std::span<float> gradient) const {
  float* biases = gradient.data() + layer.biases;
  for (std::uint32_t o = 0; o < layer.outputs; ++o) biases[o] += output_gradient[o];
  for (std::uint32_t i = 0; i < layer.inputs; ++i) {
    const std::size_t at = layer.weights + std::size_t{i} * layer.outputs;
    const float* row = weights_.data() + at;
    float* slope = gradient.data() + at;
    float sum = 0;
    for (std::uint32_t o = 0; o < layer.outputs; ++o) sum += row[o] * output_gradient[o];
    if (!input_gradient.empty()) input_gradient[i] = input[i] > 0 ? sum : 0;
    if (input[i] == 0) continue;
    for (std::uint32_t o = 0; o < layer.outputs; ++o) slope[o] += input[i] * output_gradient[o];
  }
}

void Network::backward(const Trace& trace, std::span<const float> output_gradient,
                       std::span<float> gradient) const {
  thread_local std::vector<float> first, second;
  first.resize(shape_.hidden);
  second.resize(shape_.hidden);
  const auto stack = layers();
  learn(stack[2], trace.second, output_gradient, second, gradient);
  learn(stack[1], trace.first, second, first, gradient);
  learn(stack[0], trace.input, first, {}, gradient);
}

void Adam::step(std::span<float> weights, std::span<const float> gradient) {
  constexpr float kMean = 0.9F;
  constexpr float kSquare = 0.999F;
  constexpr float kTiny = 1e-8F;
  mean_decay_ *= kMean;
  square_decay_ *= kSquare;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    mean_[i] += (1 - kMean) * (gradient[i] - mean_[i]);
    square_[i] += (1 - kSquare) * (gradient[i] * gradient[i] - square_[i]);
    const float mean = mean_[i] / (1 - mean_decay_);
    const float square = square_[i] / (1 - square_decay_);
    weights[i] -= rate_ * mean / (std::sqrt(square) + kTiny);
  }
}

}  // namespace forebay::tuner
