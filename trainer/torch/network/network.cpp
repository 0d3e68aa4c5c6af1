#include "trainer/torch/network/network.h"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>

#include "trainer/torch/libtorch.h"

namespace forebay {
namespace {

at::Tensor floats(std::size_t rows, std::int64_t width) {
  return at::empty({extent(rows), width}, at::kFloat);
}

at::Tensor first_of(const at::Tensor& all, std::size_t rows) {
  return all.narrow(0, 0, extent(rows));
}

std::vector<at::Tensor> first_of(const std::vector<at::Tensor>& all, std::size_t rows) {
  std::vector<at::Tensor> first;
  for (const at::Tensor& tensor : all) first.push_back(first_of(tensor, rows));
  return first;
}

// Indices of a cross layer's parameters.
constexpr std::size_t kV = 0;
constexpr std::size_t kW = 1;
constexpr std::size_t kB = 2;

}  // namespace

std::vector<at::Tensor> views_over(const ParameterShapes& parameters, float* values) {
  std::vector<at::Tensor> views;
  views.reserve(parameters.size());
  for (const ParameterShape& parameter : parameters) {
    views.push_back(at::from_blob(values, parameter.shape, at::kFloat));
    values += parameter.size();
  }
  return views;
}

void append_state(const ParameterShapes& parameters, float* values, StateTensor::Part part,
                  std::vector<MemoryTensor>& tensors, const char* suffix) {
  for (const ParameterShape& parameter : parameters) {
    StateTensor tensor{.name = parameter.name + suffix, .part = part, .shape = parameter.shape};
    tensors.push_back(in_memory(std::move(tensor), {values, parameter.size()}));
    values += parameter.size();
  }
}

std::string script_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

std::unique_ptr<Network> make_network(const ModelShape& shape) {
  if (shape.is_wide()) return make_wide(shape);
  if (shape.network == TrainerSpec::ModelKind::kDcnV2) return make_dcn(shape);
  return make_dlrm(shape);
}

Mlp::Activations Mlp::make_activations(std::size_t rows) const {
  Activations all;
  for (int width : widths_) {
    all.outputs.push_back(floats(rows, width));
    all.gradients.push_back(floats(rows, width));
  }
  all.ones = at::ones({extent(rows)}, at::kFloat);
  return all;
}

Mlp::Activations Mlp::first_rows(const Activations& all, std::size_t rows) {
  return {first_of(all.outputs, rows), first_of(all.gradients, rows), first_of(all.ones, rows)};
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

CrossLayers::Activations CrossLayers::make_activations(std::size_t rows) const {
  Activations all;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    all.inputs.push_back(floats(rows, width_));
    all.narrow.push_back(floats(rows, rank_));
    all.factors.push_back(floats(rows, width_));
  }
  all.inputs.push_back(floats(rows, width_));
  all.gradient = floats(rows, width_);
  all.input_gradient = floats(rows, width_);
  all.factor_gradient = floats(rows, width_);
  all.narrow_gradient = floats(rows, rank_);
  all.ones = at::ones({extent(rows)}, at::kFloat);
  return all;
}

CrossLayers::Activations CrossLayers::first_rows(const Activations& all, std::size_t rows) {
  return {first_of(all.inputs, rows),          first_of(all.narrow, rows),
          first_of(all.factors, rows),         first_of(all.gradient, rows),
          first_of(all.input_gradient, rows),  first_of(all.factor_gradient, rows),
          first_of(all.narrow_gradient, rows), first_of(all.ones, rows)};
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
