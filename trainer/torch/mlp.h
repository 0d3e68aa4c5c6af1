#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/random.h"
#include "trainer/model.h"

namespace forebay {

/// Which stream of a seed's random numbers starts which MLP; the tables' streams count from 0.
inline constexpr std::uint64_t kBottomStream = ~std::uint64_t{0};
inline constexpr std::uint64_t kTopStream = ~std::uint64_t{1};

/// Fully connected layers with a ReLU after each (the last one's is a choice), and their gradients,
/// written out instead of recorded: the layers are small, and a tape would cost as much as they do.
///
/// Knows shapes only; weights, gradients and activations are handed in, so that any number of
/// threads may use one Mlp.
class Mlp {
 public:
  enum class Last : std::uint8_t { kRelu, kLinear };

  /// Weights, or their gradients: [out, in] and [out].
  struct Layer {
    at::Tensor weight;
    at::Tensor bias;
  };
  using Layers = std::vector<Layer>;

  /// What one thread needs to work on up to some number of rows.
  struct Activations {
    std::vector<at::Tensor> outputs;    ///< Per layer, [rows, width].
    std::vector<at::Tensor> gradients;  ///< Of the outputs.
    at::Tensor ones;                    ///< [rows]
  };

  Mlp(std::string name, std::size_t input, std::vector<int> widths, Last last);

  std::size_t parameters() const;
  /// Views of `values`, which holds parameters() entries.
  Layers layers_over(float* values) const;
  /// Starts weights normal, σ = √(2 / (in + out)), biases normal, σ = √(1 / out) (Naumov et al.
  /// 2019).
  void initialise(std::span<float> values, Random random) const;
  void append_state(float* values, StateTensor::Part part, std::vector<StateTensor>& tensors) const;

  Activations make_activations(std::size_t rows) const;
  /// The first `rows` rows of each.
  static Activations first_rows(const Activations& all, std::size_t rows);

  /// Fills the outputs.
  void forward(const Layers& layers, const at::Tensor& input, Activations& activations) const;

  /// From gradients.back(), which the caller fills: adds to `sums`, and writes the input's gradient
  /// where one is wanted.
  void backward(const Layers& layers, const at::Tensor& input, Activations& activations,
                Layers& sums, at::Tensor* input_gradient) const;

 private:
  std::size_t input_of(std::size_t layer) const;

  const std::string name_;
  const std::size_t input_;
  const std::vector<int> widths_;
  const Last last_;
};

}  // namespace forebay
