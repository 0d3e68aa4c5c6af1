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
/// Holds shapes only, as Mlp does. Its parameters are each layer's V [rank, width], W [width, rank]
/// and b [width].
class CrossLayers {
 public:
  /// The memory that one thread needs for up to some number of rows.
  struct Activations {
    std::vector<at::Tensor> inputs;   ///< x[0] … x[layers], [rows, width].
    std::vector<at::Tensor> narrow;   ///< V[l] x[l], [rows, rank].
    std::vector<at::Tensor> factors;  ///< The factor of x[0], [rows, width].
    at::Tensor gradient;              ///< Of the last output, then of each earlier input.
    at::Tensor input_gradient;        ///< The part of x[0]'s gradient that comes from the products.
    at::Tensor factor_gradient, narrow_gradient;
    at::Tensor ones;  ///< [rows]
  };

  CrossLayers(std::size_t layers, std::size_t width, std::size_t rank)
      : layers_(layers), width_(width), rank_(rank) {}

  std::size_t tensors() const { return 3 * layers_; }
  std::size_t parameters() const { return layers_ * width_ * (2 * rank_ + 1); }
  void append_parameters(ParameterShapes& parameters) const;
  /// Draws normal weights, σ = √(2 / (in + out)) (Glorot), and sets biases to 0, as MLPerf's
  /// reference does.
  void initialise(std::span<float> values, Random random) const;

  Activations make_activations(std::size_t rows) const;
  /// Views of the first `rows` rows of each tensor.
  static Activations first_rows(const Activations& all, std::size_t rows);

  /// Computes inputs.back() from inputs.front(), which the caller fills.
  void forward(Parameters weights, Activations& space) const;
  /// Computes the gradient of inputs.front() from `gradient`, which the caller fills with that of
  /// inputs.back(); adds the parameters' gradients to `sums`.
  void backward(Parameters weights, Activations& space, Parameters sums) const;

  /// Computes the same output in differentiable operators.
  at::Tensor record(Parameters weights, const at::Tensor& input) const;
  /// The same computation as lines of TorchScript, from `x` to `x`.
  std::vector<std::string> script() const;

 private:
  const std::size_t layers_;
  const std::size_t width_;
  const std::size_t rank_;
};

}  // namespace forebay
