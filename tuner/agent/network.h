#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"

namespace forebay::tuner {

/// Three fully connected layers with ReLU between them, as InTune's: plain floats, no library.
///
/// A few thousand weights and one row at a time: less work than calling into a tensor
/// library takes. Sums run in one fixed order and nothing is contracted, so results are the same
/// bits on every machine. A value.
class Network {
 public:
  struct Shape {
    std::uint32_t inputs = 0;
    std::uint32_t hidden = 0;
    std::uint32_t outputs = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
  };

  /// What forward() leaves for backward(): one row's activations.
  struct Trace {
    std::vector<float> input, first, second;
  };

  /// All weights 0: every output is 0.
  explicit Network(Shape shape);
  /// Weights as He et al. (2015) draw them; the last layer starts small.
  Network(Shape shape, Random& random);

  const Shape& shape() const { return shape_; }
  std::vector<float>& weights() { return weights_; }
  const std::vector<float>& weights() const { return weights_; }

  /// `input` of shape().inputs to `output` of shape().outputs; `trace` may be null.
  void forward(std::span<const float> input, std::span<float> output, Trace* trace = nullptr) const;

  /// Adds to `gradient` (laid out as weights()) what `output_gradient` means for the traced row.
  void backward(const Trace& trace, std::span<const float> output_gradient,
                std::span<float> gradient) const;

  /// Where the last layer's weights begin: what is fine-tuned live.
  std::size_t last_layer() const;

 private:
  struct Layer {
    std::size_t weights, biases;  // offsets; weights are [inputs][outputs]
    std::uint32_t inputs, outputs;
  };
  std::array<Layer, 3> layers() const;
  void apply(const Layer& layer, std::span<const float> input, std::span<float> output,
             bool relu) const;
  void learn(const Layer& layer, std::span<const float> input,
             std::span<const float> output_gradient, std::span<float> input_gradient,
             std::span<float> gradient) const;

  Shape shape_;
  std::vector<float> weights_;
};

/// Adam (Kingma & Ba 2015) over one flat vector of weights. A value.
class Adam {
 public:
  Adam(std::size_t weights, float rate) : mean_(weights), square_(weights), rate_(rate) {}
  void set_rate(float rate) { rate_ = rate; }
  void step(std::span<float> weights, std::span<const float> gradient);

 private:
  std::vector<float> mean_, square_;
  float rate_;
  float mean_decay_ = 1, square_decay_ = 1;
};

}  // namespace forebay::tuner
