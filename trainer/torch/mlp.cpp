#include "trainer/torch/mlp.h"

#include <cmath>
#include <numbers>
#include <utility>

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>

namespace forebay {
namespace {

void fill_normal(std::span<float> values, double deviation, Random& random) {
  for (float& value : values) {
    // Box and Muller; 1 - u is never 0.
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    value = static_cast<float>(deviation * radius * std::cos(angle));
  }
}

}  // namespace

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

Mlp::Layers Mlp::layers_over(float* values) const {
  Layers layers;
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    const std::int64_t out = widths_[layer];
    const auto in = static_cast<std::int64_t>(input_of(layer));
    const at::Tensor weight = at::from_blob(values, {out, in}, at::kFloat);
    const at::Tensor bias = at::from_blob(values + out * in, {out}, at::kFloat);
    layers.push_back({weight, bias});
    values += out * (in + 1);
  }
  return layers;
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

void Mlp::append_state(float* values, StateTensor::Part part,
                       std::vector<StateTensor>& tensors) const {
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    const auto out = static_cast<std::size_t>(widths_[layer]);
    const std::size_t in = input_of(layer);
    const std::string prefix = name_ + "." + std::to_string(layer);
    const auto rows = static_cast<std::int64_t>(out);
    tensors.push_back(
        {prefix + ".weight", part, {rows, static_cast<std::int64_t>(in)}, {values, out * in}});
    tensors.push_back({prefix + ".bias", part, {rows}, {values + out * in, out}});
    values += out * (in + 1);
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

void Mlp::forward(const Layers& layers, const at::Tensor& input, Activations& activations) const {
  const at::Tensor* x = &input;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    at::Tensor& y = activations.outputs[layer];
    at::addmm_out(y, layers[layer].bias, *x, layers[layer].weight.t());
    if (last_ == Last::kRelu || layer + 1 < layers.size()) at::relu_(y);
    x = &y;
  }
}

void Mlp::backward(const Layers& layers, const at::Tensor& input, Activations& activations,
                   Layers& sums, at::Tensor* input_gradient) const {
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    at::Tensor& dy = activations.gradients[layer];
    if (last_ == Last::kRelu || layer + 1 < layers.size()) {
      at::threshold_backward_out(dy, dy, activations.outputs[layer], 0);
    }
    const at::Tensor& x = layer == 0 ? input : activations.outputs[layer - 1];
    const at::Tensor transposed = dy.t();
    sums[layer].weight.addmm_(transposed, x);
    sums[layer].bias.addmv_(transposed, activations.ones);
    at::Tensor* dx = layer == 0 ? input_gradient : &activations.gradients[layer - 1];
    if (dx != nullptr) at::mm_out(*dx, dy, layers[layer].weight);
  }
}

}  // namespace forebay
