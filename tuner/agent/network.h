#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"

namespace forebay::tuner {

/// Three fully connected layers with ReLU between them, as InTune's, in plain floats without a
/// library.
///
/// A few thousand weights and one row at a time cost less than a call into a tensor library. Sums
/// run in one fixed order without contraction, so results are the same bits on every machine. A
/// value.
class Network {
 public:
  struct Shape {
    std::uint32_t inputs = 0;
    std::uint32_t hidden = 0;
    std::uint32_t outputs = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
  };

  /// The activations of one row, which forward() stores for backward().
  struct Trace {
    std::vector<float> input, first, second;
  };

  /// Sets all weights to 0, so that every output is 0.
  explicit Network(Shape shape);
  /// Draws weights as He et al. (2015) do; the last layer starts small.
  Network(Shape shape, Random& random);

  const Shape& shape() const { return shape_; }
  std::vector<float>& weights() { return weights_; }
  const std::vector<float>& weights() const { return weights_; }

  /// Computes `output` of shape().outputs from `input` of shape().inputs; `trace` may be null.
  void forward(std::span<const float> input, std::span<float> output, Trace* trace = nullptr) const;

  /// Adds the gradient of the weights, for the traced row and `output_gradient`, to `gradient`
  /// (laid out as weights()).
  void backward(const Trace& trace, std::span<const float> output_gradient,
                std::span<float> gradient) const;

  /// Output `output` by the present last layer, for a row whose trace is of the present other
  /// layers.
  float output_of(const Trace& trace, std::size_t output) const;
  /// Moves the last layer's weights of output `output` by `-rate` times their gradient, for the
  /// traced row and the gradient of that output.
  void step_last_layer(const Trace& trace, std::size_t output, float output_gradient, float rate);

  /// Index of the last layer's first weight; only the last layer is fine-tuned while a job runs.
  std::size_t last_layer() const;

 private:
  struct Layer {
    std::size_t weights, biases;  // offsets; weights are [inputs][outputs]
    std::uint32_t inputs, outputs;
  };
  std::array<Layer, 3> layers() const;
  void apply(const Layer& layer, std::span<const float> input, std::span<float> output) const;
  template <std::uint32_t kWidth>
  void apply_block(const Layer& layer, std::span<const float> input, std::span<float> output,
                   std::uint32_t first) const;
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

/// Encodes the file of a network's weights: 8 bytes of magic with a version, three layer widths
/// (uint32), the weights (float32), a 64-bit checksum of all bytes before it; little-endian.
std::string encode_weights(const Network& network);

/// Whether a file that begins with these bytes is one of weights, of any version.
bool are_weights(std::string_view begin);

/// Returns kCorrupt, naming `where` and the error: another version, another shape than `shape`,
/// damage.
Result<Network> decode_weights(std::span<const unsigned char> bytes, Network::Shape shape,
                               const std::string& where);

/// Reads a file of weights; reads at most the bytes that `shape` requires.
Result<Network> read_weights(const std::string& path, Network::Shape shape);

/// The weights that this build contains (intune.weights here, made by `forebay tune pretrain`).
std::span<const unsigned char> shipped_weights();

}  // namespace forebay::tuner
