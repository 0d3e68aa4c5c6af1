#include "trainer/torch/mlp.h"

#include <cmath>
#include <numbers>
#include <utility>

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>

namespace forebay {
void fill_normal(std::span<float> values, double deviation, Random& random) {
  for (float& value : values) {
    // Box and Muller; 1 - u is never 0.
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    value = static_cast<float>(deviation * radius * std::cos(angle));
  }
}

Mlp::Mlp(std::string name, std::size_t input, std::vector<int> widths, Last last)
    : name_(std::move(name)), input_(input), widths_(std::move(widths)), last_(last) {}

std::size_t Mlp::input_of(std::size_t layer) const {
  return layer == 0 ? input_ : static_cast<std::size_t>(widths_[layer - 1]);
}

std::size_t Mlp::parameters() const {
  std::size_t total = 0;
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    total += static_cast<std::size_t>(widths_[layer]) * (input_of(layer) + 1);
  }
  return total;
}

void Mlp::append_parameters(ParameterShapes& parameters) const {
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    const std::int64_t out = widths_[layer];
    const auto in = static_cast<std::int64_t>(input_of(layer));
    const std::string prefix = name_ + "." + std::to_string(layer);
    parameters.push_back({prefix + ".weight", {out, in}});
    parameters.push_back({prefix + ".bias", {out}});
  }
}

void Mlp::initialise(std::span<float> values, Random random) const {
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    const auto out = static_cast<std::size_t>(widths_[layer]);
    const std::size_t in = input_of(layer);
    fill_normal(values.first(out * in), std::sqrt(2 / static_cast<double>(in + out)), random);
    values = values.subspan(out * in);
    fill_normal(values.first(out), std::sqrt(1 / static_cast<double>(out)), random);
    values = values.subspan(out);
  }
}

Mlp::Activations Mlp::make_activations(std::size_t rows) const {
  Activations all;
  const auto count = static_cast<std::int64_t>(rows);
  for (int width : widths_) {
    all.outputs.push_back(at::empty({count, width}, at::kFloat));
    all.gradients.push_back(at::empty({count, width}, at::kFloat));
  }
  all.ones = at::ones({count}, at::kFloat);
  return all;
}

Mlp::Activations Mlp::first_rows(const Activations& all, std::size_t rows) {
  const auto count = static_cast<std::int64_t>(rows);
  Activations first;
  for (const at::Tensor& output : all.outputs) first.outputs.push_back(output.narrow(0, 0, count));
  for (const at::Tensor& gradient : all.gradients) {
    first.gradients.push_back(gradient.narrow(0, 0, count));
  }
  first.ones = all.ones.narrow(0, 0, count);
  return first;
}

void Mlp::forward(Parameters weights, const at::Tensor& input, Activations& activations) const {
  const at::Tensor* x = &input;
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    at::Tensor& y = activations.outputs[layer];
    at::addmm_out(y, weights[2 * layer + 1], *x, weights[2 * layer].t());
    if (has_relu(layer)) at::relu_(y);
    x = &y;
  }
}

void Mlp::backward(Parameters weights, const at::Tensor& input, Activations& activations,
                   Parameters sums, at::Tensor* input_gradient) const {
  for (std::size_t layer = widths_.size(); layer-- > 0;) {
    at::Tensor& dy = activations.gradients[layer];
    if (has_relu(layer)) at::threshold_backward_out(dy, dy, activations.outputs[layer], 0);
    const at::Tensor& x = layer == 0 ? input : activations.outputs[layer - 1];
    const at::Tensor transposed = dy.t();
    sums[2 * layer].addmm_(transposed, x);
    sums[2 * layer + 1].addmv_(transposed, activations.ones);
    at::Tensor* dx = layer == 0 ? input_gradient : &activations.gradients[layer - 1];
    if (dx != nullptr) at::mm_out(*dx, dy, weights[2 * layer]);
  }
}

at::Tensor Mlp::record(Parameters weights, at::Tensor x) const {
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    x = at::addmm(weights[2 * layer + 1], x, weights[2 * layer].t());
    if (has_relu(layer)) x = at::relu(x);
  }
  return x;
}

std::string Mlp::script(std::string x) const {
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    const std::string own = "self." + name_ + "_" + std::to_string(layer);
    std::string next = "torch.addmm(" + own + "_bias, " + x + ", " + own + "_weight.t())";
    if (has_relu(layer)) next = "torch.relu(" + next + ")";
    x = std::move(next);
  }
  return x;
}

}  // namespace forebay
