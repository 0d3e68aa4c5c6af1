#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/random.h"
#include "trainer/torch/network.h"

namespace forebay {

/// Fills `values` with normal random numbers of mean 0.
void fill_normal(std::span<float> values, double deviation, Random& random);

/// Fully connected layers with a ReLU after each (optional for the last one), and their gradients.
///
/// Holds shapes only; weights, gradients and activations are passed in, so that any number of
/// threads may use one Mlp. Its parameters are each layer's weight, [out, in], and bias, [out].
class Mlp {
 public:
  enum class Last : std::uint8_t { kRelu, kLinear };

  /// The memory that one thread needs for up to some number of rows.
  struct Activations {
    std::vector<at::Tensor> outputs;    ///< Per layer, [rows, width].
    std::vector<at::Tensor> gradients;  ///< Of the outputs.
    at::Tensor ones;                    ///< [rows]
  };

  Mlp(std::string name, std::size_t input, std::vector<int> widths, Last last);

  /// Number of tensors among its parameters.
  std::size_t tensors() const { return 2 * widths_.size(); }
  std::size_t parameters() const;
  void append_parameters(ParameterShapes& parameters) const;
  /// Draws normal weights, σ = √(2 / (in + out)), and normal biases, σ = √(1 / out) (Naumov et al.
  /// 2019).
  void initialise(std::span<float> values, Random random) const;

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
  std::size_t input_of(std::size_t layer) const;
  bool has_relu(std::size_t layer) const {
    return last_ == Last::kRelu || layer + 1 < widths_.size();
  }

  const std::string name_;
  const std::size_t input_;
  const std::vector<int> widths_;
  const Last last_;
};

}  // namespace forebay
