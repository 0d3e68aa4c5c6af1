#include <cstring>
#include <tuple>
#include <utility>

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_unique.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/Device.h>
#include <c10/core/GradMode.h>

#include "core/base/check.h"
#include "trainer/torch/batch_tensors.h"
#include "trainer/torch/embedding_tables.h"
#include "trainer/torch/mlp.h"
#include "trainer/torch/models.h"
#include "trainer/torch/optimizer.h"
#include "trainer/torch/torch_error.h"

namespace forebay {
namespace {

/// A weight with its optimizer state on the device, and the host's copies that `state` hands out.
struct Parameter {
  std::string name;
  at::Tensor value, squares;
  at::Tensor host_value, host_squares;
};

/// The rows of one table that a batch names: which, their values as a leaf of the tape, and the
/// place of each of the batch's ids among them.
struct TouchedRows {
  at::Tensor rows, values, place_of_id;
};

class DeviceDlrm final : public Model {
 public:
  DeviceDlrm(const TrainerSpec& spec, const ModelShape& shape);

  bool learns() const override { return true; }
  Result<double> step(const Batch& batch) override;
  Status predict(const Batch& batch, std::span<float> scores) override;
  std::vector<StateTensor> state() override;
  void state_changed() override;

 private:
  void add_mlp(const Mlp& mlp, std::uint64_t stream, std::uint64_t seed);
  at::Tensor logits_of(const Batch& batch, std::vector<TouchedRows>& touched);
  at::Tensor pool(const Batch& batch, std::size_t feature, std::int64_t first_id,
                  std::int64_t num_ids, TouchedRows& touched);
  at::Tensor run_mlp(std::size_t first, std::size_t layers, at::Tensor x, Mlp::Last last) const;
  at::Tensor interact(const std::vector<at::Tensor>& vectors) const;
  void update(Parameter& parameter);
  void update_rows(Parameter& table, const TouchedRows& touched);
  bool has_squares() const { return optimizer_ == TrainerSpec::Optimizer::kAdagrad; }

  const ModelShape shape_;
  const TrainerSpec::Optimizer optimizer_;
  const double learning_rate_;
  const at::Device device_;
  at::Tensor pairs_;  // Places of the lower triangle in a flattened [vectors, vectors].
  std::vector<Parameter> layers_;  // Weight and bias of each layer, the bottom's first.
  std::vector<Parameter> tables_;
};

DeviceDlrm::DeviceDlrm(const TrainerSpec& spec, const ModelShape& shape)
    : shape_(shape),
      optimizer_(spec.optimizer),
      learning_rate_(static_cast<float>(spec.learning_rate)),
      device_(spec.device) {
  if (spec.deterministic && !device_.is_cpu()) {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  }
  const Mlp bottom("bottom", shape.bottom_input(), shape.bottom_mlp, Mlp::Last::kRelu);
  const Mlp top("top", shape.top_input(), shape.top_mlp, Mlp::Last::kLinear);
  add_mlp(bottom, kBottomStream, spec.seed);
  add_mlp(top, kTopStream, spec.seed);
  for (std::size_t feature = 0; feature < shape.table_rows.size(); ++feature) {
    const std::int64_t rows = shape.table_rows[feature];
    const at::Tensor table = at::empty({rows, shape.embedding_dim}, at::kFloat);
    initialise_table({table.data_ptr<float>(), static_cast<std::size_t>(table.numel())}, rows,
                     spec.seed, feature);
    Parameter parameter;
    parameter.name = "table." + std::to_string(feature);
    parameter.value = table.to(device_);
    if (has_squares()) parameter.squares = at::zeros_like(parameter.value);
    tables_.push_back(std::move(parameter));
  }
  std::vector<std::int64_t> pairs;
  const auto vectors = static_cast<std::int64_t>(shape.table_rows.size()) + 1;
  for (std::int64_t i = 1; i < vectors; ++i) {
    for (std::int64_t j = 0; j < i; ++j) pairs.push_back(i * vectors + j);
  }
  pairs_ = at::tensor(pairs, at::kLong).to(device_);
}

void DeviceDlrm::add_mlp(const Mlp& mlp, std::uint64_t stream, std::uint64_t seed) {
  std::vector<float> values(mlp.parameters());
  mlp.initialise(values, Random(mix64(seed, stream)));
  std::vector<StateTensor> tensors;
  mlp.append_state(values.data(), StateTensor::Part::kWeights, tensors);
  for (const StateTensor& tensor : tensors) {
    const at::Tensor start = at::from_blob(tensor.values.data(), tensor.shape, at::kFloat);
    Parameter parameter;
    parameter.name = tensor.name;
    parameter.value = start.clone().to(device_).requires_grad_(true);
    if (has_squares()) parameter.squares = at::zeros_like(parameter.value);
    layers_.push_back(std::move(parameter));
  }
}

Result<double> DeviceDlrm::step(const Batch& batch) {
  return guard_torch([&] {
    std::vector<TouchedRows> touched;
    const at::Tensor logits = logits_of(batch, touched);
    const at::Tensor labels = labels_tensor(batch).to(device_);
    const at::Tensor loss = at::binary_cross_entropy_with_logits(logits, labels);
    loss.backward();
    const c10::AutoGradMode off(false);
    for (Parameter& parameter : layers_) update(parameter);
    for (std::size_t feature = 0; feature < tables_.size(); ++feature) {
      update_rows(tables_[feature], touched[feature]);
    }
    return loss.item<double>();
  });
}

Status DeviceDlrm::predict(const Batch& batch, std::span<float> scores) {
  FOREBAY_CHECK(scores.size() == batch.rows);
  return guard_torch([&] {
    const c10::AutoGradMode off(false);
    std::vector<TouchedRows> touched;
    const at::Tensor logits = logits_of(batch, touched).cpu().contiguous();
    std::memcpy(scores.data(), logits.data_ptr<float>(), scores.size_bytes());
  });
}

at::Tensor DeviceDlrm::logits_of(const Batch& batch, std::vector<TouchedRows>& touched) {
  const auto rows = static_cast<std::int64_t>(batch.rows);
  const at::Tensor dense = batch.dense_features == 0
                               ? at::ones({rows, 1}, at::TensorOptions(at::kFloat).device(device_))
                               : dense_tensor(batch, 0, batch.rows).to(device_);
  const std::size_t bottom_layers = shape_.bottom_mlp.size();
  std::vector<at::Tensor> vectors = {run_mlp(0, bottom_layers, dense, Mlp::Last::kRelu)};
  touched.resize(tables_.size());
  std::int64_t first_id = 0;
  for (std::size_t feature = 0; feature < tables_.size(); ++feature) {
    std::int64_t ids = 0;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      ids += batch.lengths[feature * batch.rows + row];
    }
    vectors.push_back(pool(batch, feature, first_id, ids, touched[feature]));
    first_id += ids;
  }
  return run_mlp(bottom_layers, shape_.top_mlp.size(), interact(vectors), Mlp::Last::kLinear)
      .view({rows});
}

at::Tensor DeviceDlrm::pool(const Batch& batch, std::size_t feature, std::int64_t first_id,
                            std::int64_t num_ids, TouchedRows& touched) {
  const at::Tensor& table = tables_[feature].value;
  const at::Tensor ids = ids_tensor(batch).narrow(0, first_id, num_ids).to(device_);
  const at::Tensor lengths =
      lengths_tensor(batch).select(0, static_cast<std::int64_t>(feature)).to(device_, at::kLong);
  std::tie(touched.rows, touched.place_of_id) =
      at::_unique(at::remainder(ids, table.size(0)), /*sorted=*/true, /*return_inverse=*/true);
  touched.values = table.index_select(0, touched.rows);
  if (c10::GradMode::is_enabled()) touched.values.requires_grad_(true);
  const at::Tensor bags = at::repeat_interleave(lengths);
  return at::zeros({lengths.size(0), table.size(1)}, table.options())
      .index_add(0, bags, touched.values.index_select(0, touched.place_of_id));
}

at::Tensor DeviceDlrm::run_mlp(std::size_t first, std::size_t layers, at::Tensor x,
                               Mlp::Last last) const {
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const at::Tensor& weight = layers_[2 * (first + layer)].value;
    const at::Tensor& bias = layers_[2 * (first + layer) + 1].value;
    x = at::addmm(bias, x, weight.t());
    if (last == Mlp::Last::kRelu || layer + 1 < layers) x = at::relu(x);
  }
  return x;
}

at::Tensor DeviceDlrm::interact(const std::vector<at::Tensor>& vectors) const {
  const at::Tensor z = at::stack(vectors, 1);
  const at::Tensor dots = at::bmm(z, z.transpose(1, 2)).flatten(1);
  return at::cat({vectors.front(), dots.index_select(1, pairs_)}, 1);
}

void DeviceDlrm::update(Parameter& parameter) {
  at::Tensor change = parameter.value.grad();
  if (has_squares()) {
    parameter.squares.add_(change * change);
    change = change / (parameter.squares.sqrt() + kAdagradEpsilon);
  }
  parameter.value.sub_(change, learning_rate_);
  parameter.value.mutable_grad().reset();
}

void DeviceDlrm::update_rows(Parameter& table, const TouchedRows& touched) {
  at::Tensor change = touched.values.grad();
  if (!change.defined()) return;
  if (has_squares()) {
    const at::Tensor squares = table.squares.index_select(0, touched.rows) + change * change;
    table.squares.index_copy_(0, touched.rows, squares);
    change = change / (squares.sqrt() + kAdagradEpsilon);
  }
  table.value.index_copy_(0, touched.rows, touched.values.detach() - change * learning_rate_);
}

std::vector<StateTensor> DeviceDlrm::state() {
  std::vector<StateTensor> tensors;
  const auto append = [&](const std::string& name, StateTensor::Part part, const at::Tensor& value,
                          at::Tensor& host) {
    if (!value.defined()) return;
    host = value.detach().cpu();
    tensors.push_back({name,
                       part,
                       host.sizes().vec(),
                       {host.data_ptr<float>(), static_cast<std::size_t>(host.numel())}});
  };
  for (auto* parameters : {&layers_, &tables_}) {
    for (Parameter& parameter : *parameters) {
      append(parameter.name, StateTensor::Part::kWeights, parameter.value, parameter.host_value);
      append(parameter.name, StateTensor::Part::kOptimizer, parameter.squares,
             parameter.host_squares);
    }
  }
  return tensors;
}

void DeviceDlrm::state_changed() {
  const c10::AutoGradMode off(false);
  for (auto* parameters : {&layers_, &tables_}) {
    for (Parameter& parameter : *parameters) {
      if (parameter.host_value.defined()) parameter.value.copy_(parameter.host_value);
      if (parameter.host_squares.defined()) parameter.squares.copy_(parameter.host_squares);
      parameter.host_value.reset();
      parameter.host_squares.reset();
    }
  }
}

}  // namespace

Result<std::unique_ptr<Model>> make_device_dlrm(const TrainerSpec& spec, const ModelShape& shape) {
  return guard_torch(
      [&]() -> std::unique_ptr<Model> { return std::make_unique<DeviceDlrm>(spec, shape); });
}

}  // namespace forebay
