#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/random.h"
#include "trainer/torch/network.h"

namespace forebay {

/// Low-rank cross layers (Wang et al. 2021): x[l+1] = x[0] ⊙ (W[l] (V[l] x[l]) + b[l]) + x[l].
///
/// Knows shapes only, as Mlp does. Its parameters are each layer's V [rank, width], W [width, rank]
/// and b [width].
class CrossLayers {
 public:
  /// What one thread needs to work on up to some number of rows.
  struct Activations {
    std::vector<at::Tensor> inputs;   ///< x[0] … x[layers], [rows, width].
    std::vector<at::Tensor> narrow;   ///< V[l] x[l], [rows, rank].
    std::vector<at::Tensor> factors;  ///< What x[0] is multiplied with, [rows, width].
    at::Tensor gradient;              ///< Of the last output, then of each input in turn.
    at::Tensor input_gradient;        ///< What of x[0]'s comes by its products.
    at::Tensor factor_gradient, narrow_gradient;
    at::Tensor ones;  ///< [rows]
  };

  CrossLayers(std::size_t layers, std::size_t width, std::size_t rank)
      : layers_(layers), width_(width), rank_(rank) {}

  std::size_t tensors() const { return 3 * layers_; }
  std::size_t parameters() const { return layers_ * width_ * (2 * rank_ + 1); }
  void append_parameters(ParameterShapes& parameters) const;
  /// Weights normal, σ = √(2 / (in + out)) (Glorot), biases 0, as MLPerf's reference has it.
  void initialise(std::span<float> values, Random random) const;

  Activations make_activations(std::size_t rows) const;
  /// The first `rows` rows of each.
  static Activations first_rows(const Activations& all, std::size_t rows);

  /// From inputs.front(), which the caller fills, to inputs.back().
  void forward(Parameters weights, Activations& space) const;
  /// From `gradient`, which the caller fills with that of inputs.back(), to that of inputs.front();
  /// adds to `sums`.
  void backward(Parameters weights, Activations& space, Parameters sums) const;

  /// The same output in differentiable operators.
  at::Tensor record(Parameters weights, const at::Tensor& input) const;
  /// The same as lines of TorchScript, from `x` to `x`.
  std::vector<std::string> script() const;

 private:
  const std::size_t layers_;
  const std::size_t width_;
  const std::size_t rank_;
};

}  // namespace forebay
