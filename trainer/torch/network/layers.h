#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/torch/network/network.h"

namespace forebay {

/// Fully connected layers with a ReLU after each (optional for the last one), and their gradients.
///
/// Holds shapes only; weights, gradients and activations are passed in, so that any number of
/// threads may use one Mlp. Its parameters are those of trainer/network_shape.h.
class Mlp {
 public:
  enum class Last : std::uint8_t { kRelu, kLinear };

  /// The memory that one thread needs for up to some number of rows.
  struct Activations {
    std::vector<at::Tensor> outputs;    ///< Per layer, [rows, width].
    std::vector<at::Tensor> gradients;  ///< Of the outputs.
    at::Tensor ones;                    ///< [rows]
  };

  Mlp(std::string name, std::vector<int> widths, Last last);

  /// Number of tensors among its parameters.
  std::size_t tensors() const { return 2 * widths_.size(); }

  Activations make_activations(std::size_t rows) const;
  /// Views of the first `rows` rows of each tensor.
  static Activations first_rows(const Activations& all, std::size_t rows);

  /// Computes the outputs.
  void forward(Parameters weights, const at::Tensor& input, Activations& activations) const;

  /// Propagates gradients.back(), which the caller fills: adds the parameters' gradients to `sums`,
  /// and writes the input's gradient if one is wanted.
  void backward(Parameters weights, const at::Tensor& input, Activations& activations,
                Parameters sums, at::Tensor* input_gradient) const;

  /// Computes the same output in differentiable operators.
  at::Tensor record(Parameters weights, at::Tensor x) const;
  /// The same computation as an expression in TorchScript.
  std::string script(std::string x) const;

 private:
  bool has_relu(std::size_t layer) const {
    return last_ == Last::kRelu || layer + 1 < widths_.size();
  }

  const std::string name_;
  const std::vector<int> widths_;
  const Last last_;
};

/// Low-rank cross layers (Wang et al. 2021): x[l+1] = x[0] ⊙ (W[l] (V[l] x[l]) + b[l]) + x[l].
///
/// Holds shapes only, as Mlp does. Its parameters are each layer's V, W and b.
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

  explicit CrossLayers(const ModelShape& shape)
      : layers_(static_cast<std::size_t>(shape.cross_layers)),
        width_(static_cast<std::int64_t>(shape.top_input())),
        rank_(shape.cross_rank) {}

  std::size_t tensors() const { return 3 * layers_; }

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
  const std::int64_t width_, rank_;
};

}  // namespace forebay
