#include "trainer/torch/device/tape_optimizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include "trainer/torch/kernels/optimizer.h"

namespace forebay {

std::vector<Moment> moments_of(TrainerSpec::Optimizer optimizer, const at::Tensor& value) {
  const at::Tensor like = value.detach();
  switch (optimizer) {
    case TrainerSpec::Optimizer::kSgd:
      return {};
    case TrainerSpec::Optimizer::kAdagrad:
      return {{"", at::zeros_like(like)}};
    case TrainerSpec::Optimizer::kAdam:
      return {{".m", at::zeros_like(like)}, {".v", at::zeros_like(like)}};
  }
  return {};
}

void update_parameter(const ParameterRule& rule, const at::Tensor& gradient, at::Tensor& value,
                      std::vector<Moment>& moments) {
  switch (rule.optimizer) {
    case TrainerSpec::Optimizer::kSgd:
      value.sub_(gradient, rule.learning_rate);
      return;
    case TrainerSpec::Optimizer::kAdagrad:
      moments[0].value.addcmul_(gradient, gradient);
      value.addcdiv_(gradient, moments[0].value.sqrt().add_(kAdagradEpsilon), -rule.learning_rate);
      return;
    case TrainerSpec::Optimizer::kAdam: {
      const auto steps = static_cast<double>(rule.steps);
      moments[0].value.mul_(kAdamBeta1).add_(gradient, 1 - kAdamBeta1);
      moments[1].value.mul_(kAdamBeta2).addcmul_(gradient, gradient, 1 - kAdamBeta2);
      const double correction = std::sqrt(1 - std::pow(kAdamBeta2, steps));
      const double rate = rule.learning_rate / (1 - std::pow(kAdamBeta1, steps));
      value.addcdiv_(moments[0].value, moments[1].value.sqrt().div_(correction).add_(kAdamEpsilon),
                     -rate);
      return;
    }
  }
}

void update_rows(double learning_rate, const at::Tensor& rows, const at::Tensor& gradients,
                 at::Tensor& table, std::vector<Moment>& moments) {
  at::Tensor change = gradients;
  if (!moments.empty()) {
    at::Tensor more = change * change;
    if (moments[0].value.size(1) == 1) more = more.mean(1, /*keepdim=*/true);
    const at::Tensor state = moments[0].value.index_select(0, rows) + more;
    moments[0].value.index_copy_(0, rows, state);
    change = change / (state.sqrt() + kAdagradEpsilon);
  }
  const at::Tensor values = table.index_select(0, rows);
  table.index_copy_(0, rows, values.sub_(change, learning_rate));
}

at::Tensor norm_of(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> defined;
  std::ranges::copy_if(gradients, std::back_inserter(defined), &at::Tensor::defined);
  return at::stack(at::_foreach_norm(defined)).norm();
}

void clip(std::vector<at::Tensor>& gradients, double most) {
  double squares = 0;
  for (const at::Tensor& gradient : gradients) {
    if (gradient.defined()) squares += gradient.square().sum(at::kDouble).item<double>();
  }
  const float factor = clip_factor(std::sqrt(squares), most);
  for (at::Tensor& gradient : gradients) {
    if (gradient.defined()) gradient = gradient * factor;
  }
}

}  // namespace forebay
