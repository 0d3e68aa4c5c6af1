#include "trainer/torch/network/network.h"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>

#include "trainer/torch/kernels/bf16.h"
#include "trainer/torch/libtorch.h"

namespace forebay {
namespace {

at::Tensor values(std::size_t rows, std::int64_t width, at::ScalarType type) {
  return at::empty({extent(rows), width}, type);
}

at::Tensor floats(std::size_t rows, std::int64_t width) { return values(rows, width, at::kFloat); }

/// A tensor that was not made stays so.
at::Tensor first_of(const at::Tensor& all, std::size_t rows) {
  return all.defined() ? all.narrow(0, 0, extent(rows)) : all;
}

std::vector<at::Tensor> first_of(const std::vector<at::Tensor>& all, std::size_t rows) {
  std::vector<at::Tensor> first;
  for (const at::Tensor& tensor : all) first.push_back(first_of(tensor, rows));
  return first;
}

std::span<const std::uint16_t> bits_of(const at::Tensor& tensor) {
  return {reinterpret_cast<const std::uint16_t*>(tensor.data_ptr<at::BFloat16>()),
          static_cast<std::size_t>(tensor.numel())};
}

bool is_rounded(const at::Tensor& tensor) { return tensor.scalar_type() == at::kBFloat16; }

/// Adds the product of two matrices to one of the sums. In bfloat16 the product is rounded before
/// it is added, in `scratch`.
void add_product(const at::Tensor& a, const at::Tensor& b, at::Tensor& scratch,
                 const GradientSums& sums, std::size_t index) {
  at::Tensor sum = sums.tensors[index];
  if (is_rounded(a)) {
    at::mm_out(scratch, a, b);
    if (sums.are_empty) {
      sum.copy_(scratch);
    } else {
      add_bf16(bits_of(scratch), values_of<float>(sum));
    }
  } else if (sums.are_empty) {
    at::mm_out(sum, a, b);
  } else {
    sum.addmm_(a, b);
  }
}

/// Adds the sum of a matrix's rows to one of the sums.
void add_rows(const at::Tensor& matrix, const at::Tensor& ones, const GradientSums& sums,
              std::size_t index) {
  const at::Tensor& sum = sums.tensors[index];
  if (sums.are_empty) sum.zero_();
  if (is_rounded(matrix)) return add_bf16(bits_of(matrix), values_of<float>(sum));
  sum.addmv_(matrix.t(), ones);
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

Mlp::Activations Mlp::make_activations(Parameters weights, std::size_t rows) const {
  Activations all;
  at::ScalarType before = at::kFloat;
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    const at::Tensor& weight = weights[2 * layer];
    const at::ScalarType type = weight.scalar_type();
    Activations::Layer& own = all.layers.emplace_back();
    own.output = values(rows, weight.size(0), type);
    own.gradient = values(rows, weight.size(0), type);
    if (type != before) {
      own.input = values(rows, weight.size(1), type);
      own.input_gradient = values(rows, weight.size(1), type);
    }
    if (type != at::kFloat) own.weight_gradient = at::empty_like(weight);
    before = type;
  }
  const Activations::Layer& last = all.layers.back();
  const bool is_float = before == at::kFloat;
  all.output = is_float ? last.output : at::empty_like(last.output, at::kFloat);
  all.gradient = is_float ? last.gradient : at::empty_like(last.gradient, at::kFloat);
  all.ones = at::ones({extent(rows)}, at::kFloat);
  return all;
}

Mlp::Activations Mlp::first_rows(const Activations& all, std::size_t rows) {
  Activations first = {.layers = all.layers,
                       .output = first_of(all.output, rows),
                       .gradient = first_of(all.gradient, rows),
                       .ones = first_of(all.ones, rows)};
  for (Activations::Layer& layer : first.layers) {
    for (at::Tensor* tensor :
         {&layer.output, &layer.gradient, &layer.input, &layer.input_gradient}) {
      if (tensor->defined()) *tensor = first_of(*tensor, rows);
    }
  }
  return first;
}

void Mlp::forward(Parameters weights, const at::Tensor& input, Activations& activations) const {
  const at::Tensor* x = &input;
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    Activations::Layer& own = activations.layers[layer];
    if (own.input.defined()) x = &own.input.copy_(*x);
    at::addmm_out(own.output, weights[2 * layer + 1], *x, weights[2 * layer].t());
    if (has_relu(layer)) at::relu_(own.output);
    x = &own.output;
  }
  if (is_rounded(*x)) activations.output.copy_(*x);
}

void Mlp::backward(Parameters weights, const at::Tensor& input, Activations& activations,
                   GradientSums sums, at::Tensor* input_gradient) const {
  std::vector<Activations::Layer>& layers = activations.layers;
  at::Tensor& last = layers.back().gradient;
  if (is_rounded(last)) last.copy_(activations.gradient);
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    Activations::Layer& own = layers[layer];
    at::Tensor& dy = own.gradient;
    if (has_relu(layer)) at::threshold_backward_out(dy, dy, own.output, 0);
    const at::Tensor& before = layer == 0 ? input : layers[layer - 1].output;
    add_product(dy.t(), own.input.defined() ? own.input : before, own.weight_gradient, sums,
                2 * layer);
    add_rows(dy, activations.ones, sums, 2 * layer + 1);
    at::Tensor* dx = layer == 0 ? input_gradient : &layers[layer - 1].gradient;
    if (dx == nullptr) continue;
    at::mm_out(own.input.defined() ? own.input_gradient : *dx, dy, weights[2 * layer]);
    if (own.input.defined()) dx->copy_(own.input_gradient);
  }
}

at::Tensor Mlp::record(Parameters weights, at::Tensor x) const {
  for (std::size_t layer = 0; layer < widths_.size(); ++layer) {
    const at::Tensor& weight = weights[2 * layer];
    x = at::addmm(weights[2 * layer + 1], x.to(weight.scalar_type()), weight.t());
    if (has_relu(layer)) x = at::relu(x);
  }
  return x.to(at::kFloat);
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

CrossLayers::Activations CrossLayers::make_activations(Parameters weights, std::size_t rows) const {
  const at::Tensor& v = weights[kV];
  Activations all;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    all.inputs.push_back(floats(rows, width_));
    all.narrow.push_back(values(rows, v.size(0), v.scalar_type()));
    all.factors.push_back(floats(rows, width_));
    all.operands.push_back(is_rounded(v) ? values(rows, width_, v.scalar_type())
                                         : all.inputs.back());
  }
  all.inputs.push_back(floats(rows, width_));
  all.gradient = floats(rows, width_);
  all.input_gradient = floats(rows, width_);
  all.factor_gradient = floats(rows, width_);
  all.narrow_gradient = at::empty_like(all.narrow.front());
  all.ones = at::ones({extent(rows)}, at::kFloat);
  all.wide = all.factor_gradient;
  if (is_rounded(v)) {
    all.wide = at::empty_like(all.operands.front());
    all.v_gradient = at::empty_like(v);
    all.w_gradient = at::empty_like(weights[kW]);
  }
  return all;
}

CrossLayers::Activations CrossLayers::first_rows(const Activations& all, std::size_t rows) {
  return {first_of(all.inputs, rows),
          first_of(all.narrow, rows),
          first_of(all.factors, rows),
          first_of(all.gradient, rows),
          first_of(all.input_gradient, rows),
          first_of(all.factor_gradient, rows),
          first_of(all.narrow_gradient, rows),
          first_of(all.ones, rows),
          first_of(all.operands, rows),
          first_of(all.wide, rows),
          all.v_gradient,
          all.w_gradient};
}

void CrossLayers::forward(Parameters weights, Activations& space) const {
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    const Parameters own = weights.subspan(3 * layer);
    at::Tensor& factors = space.factors[layer];
    const bool rounds = is_rounded(own[kV]);
    if (rounds) space.operands[layer].copy_(space.inputs[layer]);
    at::mm_out(space.narrow[layer], space.operands[layer], own[kV].t());
    if (rounds) {
      at::mm_out(space.wide, space.narrow[layer], own[kW].t());
      factors.copy_(space.wide).add_(own[kB]);
    } else {
      at::addmm_out(factors, own[kB], space.narrow[layer], own[kW].t());
    }
    at::addcmul_out(space.inputs[layer + 1], space.inputs[layer], space.inputs[0], factors);
  }
}

void CrossLayers::backward(Parameters weights, Activations& space, GradientSums sums) const {
  space.input_gradient.zero_();
  for (std::size_t layer = layers_; layer-- > 0;) {
    const Parameters own = weights.subspan(3 * layer);
    const GradientSums own_sums = sums.from(3 * layer);
    const bool rounds = is_rounded(own[kV]);
    space.input_gradient.addcmul_(space.gradient, space.factors[layer]);
    at::mul_out(space.factor_gradient, space.gradient, space.inputs[0]);
    add_rows(space.factor_gradient, space.ones, own_sums, kB);
    if (rounds) space.wide.copy_(space.factor_gradient);
    add_product(space.wide.t(), space.narrow[layer], space.w_gradient, own_sums, kW);
    at::mm_out(space.narrow_gradient, space.wide, own[kW]);
    add_product(space.narrow_gradient.t(), space.operands[layer], space.v_gradient, own_sums, kV);
    if (rounds) {
      space.gradient.add_(at::mm_out(space.wide, space.narrow_gradient, own[kV]));
    } else {
      space.gradient.addmm_(space.narrow_gradient, own[kV]);
    }
  }
  space.gradient.add_(space.input_gradient);
}

at::Tensor CrossLayers::record(Parameters weights, const at::Tensor& input) const {
  at::Tensor x = input;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    const Parameters own = weights.subspan(3 * layer);
    const at::Tensor narrow = at::mm(x.to(own[kV].scalar_type()), own[kV].t());
    const at::Tensor factors = is_rounded(narrow)
                                   ? at::mm(narrow, own[kW].t()).to(at::kFloat) + own[kB]
                                   : at::addmm(own[kB], narrow, own[kW].t());
    x = input * factors + x;
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
