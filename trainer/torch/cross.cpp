#include "trainer/torch/cross.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>

#include "trainer/torch/mlp.h"

namespace forebay {
namespace {

std::int64_t extent(std::size_t size) { return static_cast<std::int64_t>(size); }

// Indices of a layer's parameters.
constexpr std::size_t kV = 0;
constexpr std::size_t kW = 1;
constexpr std::size_t kB = 2;

}  // namespace

void CrossLayers::append_parameters(ParameterShapes& parameters) const {
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    const std::string prefix = "cross." + std::to_string(layer);
    parameters.push_back({prefix + ".v", {extent(rank_), extent(width_)}});
    parameters.push_back({prefix + ".w", {extent(width_), extent(rank_)}});
    parameters.push_back({prefix + ".bias", {extent(width_)}});
  }
}

void CrossLayers::initialise(std::span<float> values, Random random) const {
  const std::size_t weights = 2 * rank_ * width_;
  const double deviation = std::sqrt(2 / static_cast<double>(rank_ + width_));
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    fill_normal(values.first(weights), deviation, random);
    std::ranges::fill(values.subspan(weights, width_), 0.0f);
    values = values.subspan(weights + width_);
  }
}

CrossLayers::Activations CrossLayers::make_activations(std::size_t rows) const {
  const auto make = [&](std::size_t width) {
    return at::empty({extent(rows), extent(width)}, at::kFloat);
  };
  Activations all;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    all.inputs.push_back(make(width_));
    all.narrow.push_back(make(rank_));
    all.factors.push_back(make(width_));
  }
  all.inputs.push_back(make(width_));
  all.gradient = make(width_);
  all.input_gradient = make(width_);
  all.factor_gradient = make(width_);
  all.narrow_gradient = make(rank_);
  all.ones = at::ones({extent(rows)}, at::kFloat);
  return all;
}

CrossLayers::Activations CrossLayers::first_rows(const Activations& all, std::size_t rows) {
  const auto first = [&](const at::Tensor& tensor) { return tensor.narrow(0, 0, extent(rows)); };
  Activations now;
  for (const at::Tensor& tensor : all.inputs) now.inputs.push_back(first(tensor));
  for (const at::Tensor& tensor : all.narrow) now.narrow.push_back(first(tensor));
  for (const at::Tensor& tensor : all.factors) now.factors.push_back(first(tensor));
  now.gradient = first(all.gradient);
  now.input_gradient = first(all.input_gradient);
  now.factor_gradient = first(all.factor_gradient);
  now.narrow_gradient = first(all.narrow_gradient);
  now.ones = first(all.ones);
  return now;
}

void CrossLayers::forward(Parameters weights, Activations& space) const {
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    const Parameters own = weights.subspan(3 * layer);
    at::mm_out(space.narrow[layer], space.inputs[layer], own[kV].t());
    at::addmm_out(space.factors[layer], own[kB], space.narrow[layer], own[kW].t());
    at::addcmul_out(space.inputs[layer + 1], space.inputs[layer], space.inputs[0],
                    space.factors[layer]);
  }
}

void CrossLayers::backward(Parameters weights, Activations& space, Parameters sums) const {
  space.input_gradient.zero_();
  for (std::size_t layer = layers_; layer-- > 0;) {
    const Parameters own = weights.subspan(3 * layer);
    const Parameters own_sums = sums.subspan(3 * layer);
    space.input_gradient.addcmul_(space.gradient, space.factors[layer]);
    at::mul_out(space.factor_gradient, space.gradient, space.inputs[0]);
    const at::Tensor transposed = space.factor_gradient.t();
    own_sums[kB].addmv_(transposed, space.ones);
    own_sums[kW].addmm_(transposed, space.narrow[layer]);
    at::mm_out(space.narrow_gradient, space.factor_gradient, own[kW]);
    own_sums[kV].addmm_(space.narrow_gradient.t(), space.inputs[layer]);
    space.gradient.addmm_(space.narrow_gradient, own[kV]);
  }
  space.gradient.add_(space.input_gradient);
}

at::Tensor CrossLayers::record(Parameters weights, const at::Tensor& input) const {
  at::Tensor x = input;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    const Parameters own = weights.subspan(3 * layer);
    x = input * at::addmm(own[kB], at::mm(x, own[kV].t()), own[kW].t()) + x;
  }
  return x;
}

std::vector<std::string> CrossLayers::script() const {
  std::vector<std::string> lines = {"first = x"};
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    const std::string own = "self.cross_" + std::to_string(layer);
    lines.push_back("x = first * torch.addmm(" + own + "_bias, torch.mm(x, " + own + "_v.t()), " +
                    own + "_w.t()) + x");
  }
  return lines;
}

}  // namespace forebay
