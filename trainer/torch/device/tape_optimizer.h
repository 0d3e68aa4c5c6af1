#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/spec.h"

namespace forebay {

/// The optimizers of kernels/optimizer.h and of the tables in libtorch's operators, on any device.

/// The state that an optimizer keeps for each value of a tensor; `suffix` distinguishes several.
struct Moment {
  const char* suffix;
  at::Tensor value;
};

/// Zeroed, on the device of `value`.
std::vector<Moment> moments_of(TrainerSpec::Optimizer optimizer, const at::Tensor& value);

struct ParameterRule {
  TrainerSpec::Optimizer optimizer;
  double learning_rate;
  std::int64_t steps;  ///< Including this one.
};
void update_parameter(const ParameterRule& rule, const at::Tensor& gradient, at::Tensor& value,
                      std::vector<Moment>& moments);

/// Updates distinct rows of a table by the sums of their gradients, as its optimizer's state says:
/// none (SGD), one value a row, or one a weight.
void update_rows(double learning_rate, const at::Tensor& rows, const at::Tensor& gradients,
                 at::Tensor& table, std::vector<Moment>& moments);

/// The common L2 norm of the gradients, a scalar on their device, computed in float32; ignores
/// undefined ones.
at::Tensor norm_of(const std::vector<at::Tensor>& gradients);

/// Scales the gradients so that their common L2 norm is at most `most`; ignores undefined ones.
void clip(std::vector<at::Tensor>& gradients, double most);

}  // namespace forebay
