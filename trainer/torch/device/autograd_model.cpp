#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/_embedding_bag.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>
#include <c10/core/GradMode.h>

#include "core/base/check.h"
#include "trainer/device_memory.h"
#include "trainer/embedding/look_ahead.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/model.h"
#include "trainer/spec.h"
#include "trainer/torch/device/device_tables.h"
#include "trainer/torch/device/tape_optimizer.h"
#include "trainer/torch/device/transfer.h"
#include "trainer/torch/kernels/optimizer.h"
#include "trainer/torch/libtorch.h"
#include "trainer/torch/module_functions.h"
#include "trainer/torch/network/network.h"

namespace forebay {
namespace {

// libtorch's numbers for the ways to pool a bag.
constexpr std::int64_t kBagSum = 0;
constexpr std::int64_t kBagMean = 1;

/// A parameter and its optimizer's state on the device.
struct Parameter {
  std::string name;
  at::Tensor value;
  std::vector<Moment> moments = {};
};

/// The table rows that a batch names: their slots on the device, and their values as a leaf of the
/// tape.
struct TouchedRows {
  at::Tensor slots, values;
};

/// A tensor of the state on the device, and its copy on the host.
struct HostCopy {
  at::Tensor device;
  at::Tensor host;
  MemoryTensor memory;  // over `host`
};

std::vector<MemoryTensor> memory_of(const std::vector<HostCopy>& copies) {
  std::vector<MemoryTensor> tensors;
  tensors.reserve(copies.size());
  for (const HostCopy& copy : copies) tensors.push_back(copy.memory);
  return tensors;
}

class AutogradModel final : public Model {
 public:
  AutogradModel(const TrainerSpec& spec, const ModelShape& shape, std::unique_ptr<CopyRoom> room,
                std::unique_ptr<TableStorage> host)
      : spec_(spec),
        shape_(shape),
        lanes_(make_lanes(at::Device(spec.device))),
        network_(make_network(shape)),
        steps_(at::zeros({1}, at::kLong)),
        room_(std::move(room)),
        team_(std::clamp<std::size_t>(static_cast<std::size_t>(std::max(spec.threads, 1)), 1,
                                      kMostDeviceThreads)),
        tables_(std::move(host), layout_of(spec, shape), device_rows(spec, shape), *lanes_, team_),
        ahead_(tables_, kModelShares, &team_) {
    const at::Device device = lanes_->device();
    std::vector<float> values(size_of(network_->parameters()));
    initialise(network_->parameters(), spec.seed, values);
    const std::vector<at::Tensor> views = views_over(network_->parameters(), values.data());
    for (std::size_t index = 0; index < views.size(); ++index) {
      const at::Tensor value = views[index].clone().to(device).requires_grad_(true);
      dense_.push_back(
          {network_->parameters()[index].name, value, moments_of(spec.optimizer, value)});
    }
  }

  bool learns() const override { return true; }
  void prefetch(std::shared_ptr<const Batch> batch) override { ahead_.prefetch(std::move(batch)); }

  Result<double> step(const Batch& batch) override {
    if (auto status = check_batch(batch, shape_); !status) return pass(status);
    auto rows = ahead_.begin(batch);
    if (!rows) return pass(rows);
    bool finite = true;
    auto loss = guard_torch([&] {
      const StagedBatch staged = tables_.on_device(**rows);
      TouchedRows touched;
      const at::Tensor logits = logits_of(staged, touched);
      const at::Tensor mean =
          at::binary_cross_entropy_with_logits(logits, staged.labels, staged.weights);
      mean.backward();
      const at::Tensor norm = update(batch.number, touched);
      tables_.changed(**rows);
      const at::Tensor told = at::stack({mean.detach(), norm}).cpu();  // Waits once for both.
      finite = std::isfinite(told[1].item<float>());
      return told[0].item<double>();
    });
    ahead_.end();
    if (loss && !std::isfinite(*loss)) {
      return tl::unexpected<Error>(bad_loss({.batch = batch, .loss = *loss}, shape_));
    }
    if (!finite) return tl::unexpected<Error>(bad_update({batch}, shape_));
    return loss;
  }

  LookupCounts lookups() const override { return ahead_.lookups(); }
  std::vector<TableTiers> tiers() const override { return ahead_.tiers(); }

  Status predict(const Batch& batch, std::span<float> scores) override {
    FOREBAY_CHECK(scores.size() == batch.rows);
    if (auto status = check_batch(batch, shape_); !status) return status;
    auto rows = ahead_.begin(batch, TableStorage::Use::kScore);
    if (!rows) return pass(rows);
    auto scored = guard_torch([&] {
      const c10::AutoGradMode off(false);
      TouchedRows touched;
      const at::Tensor logits = logits_of(tables_.on_device(**rows), touched).cpu().contiguous();
      std::memcpy(scores.data(), logits.data_ptr<float>(), scores.size_bytes());
    });
    ahead_.end();
    return scored;
  }

  Result<std::unique_ptr<StateSource>> snapshot() override {
    auto copies = guard_torch([this] { return copies_on_host(); });
    if (!copies) return pass(copies);
    return ahead_.while_still([&] { return tables_.snapshot(memory_of(*copies)); });
  }

  Status restore(StateSource& from) override {
    auto copies = guard_torch([this] { return copies_on_host(); });
    if (!copies) return pass(copies);
    ahead_.forget();
    auto restored = ahead_.while_still([&] { return tables_.restore(from, memory_of(*copies)); });
    if (!restored) return restored;
    return guard_torch([&] {
      const c10::AutoGradMode off(false);
      for (HostCopy& copy : *copies) copy.device.copy_(copy.host);
    });
  }

  std::optional<double> learning_rate() const override { return rate_; }

 private:
  std::vector<HostCopy> copies_on_host() {
    std::vector<HostCopy> copies;
    const auto append = [&](const std::string& name, StateTensor::Part part,
                            const at::Tensor& value) {
      HostCopy copy{.device = value.detach(), .host = value.detach().cpu(), .memory = {}};
      StateTensor tensor{.name = name, .part = part, .shape = copy.host.sizes().vec()};
      copy.memory = in_memory(std::move(tensor), {copy.host.data_ptr<float>(),
                                                  static_cast<std::size_t>(copy.host.numel())});
      copies.push_back(std::move(copy));
    };
    for (const Parameter& parameter : dense_) {
      append(parameter.name, StateTensor::Part::kWeights, parameter.value);
      for (const Moment& moment : parameter.moments) {
        append(parameter.name + moment.suffix, StateTensor::Part::kOptimizer, moment.value);
      }
    }
    if (spec_.optimizer == TrainerSpec::Optimizer::kAdam) {
      copies.push_back({steps_, steps_, count_in_memory(*steps_.data_ptr<std::int64_t>())});
    }
    return copies;
  }

  at::Tensor logits_of(const StagedBatch& batch, TouchedRows& touched) {
    const std::int64_t rows = batch.labels.size(0);
    const at::Tensor dense =
        shape_.dense_features == 0 ? at::ones({rows, 1}, batch.dense.options()) : batch.dense;
    return network_->record(operands(), dense, pool(batch, touched));
  }

  /// The parameters as products take them: in bfloat16, rounded anew, where the spec wants that.
  /// The tape gives the gradients back in float32.
  std::vector<at::Tensor> operands() const {
    const bool rounds = spec_.precision == TrainerSpec::Precision::kBf16;
    std::vector<at::Tensor> all;
    for (std::size_t index = 0; index < dense_.size(); ++index) {
      const at::Tensor& value = dense_[index].value;
      all.push_back(rounds && network_->parameters()[index].rounds ? value.to(at::kBFloat16)
                                                                   : value);
    }
    return all;
  }

  /// Pools all features at once: their rows are in one table of the device. Of libtorch's ways to
  /// pool, and to give rows the bags that they share, these add up gradients in the order of the
  /// ids, so that bits do not change from run to run; the first one sorts ids only once.
  at::Tensor pool(const StagedBatch& batch, TouchedRows& touched) {
    const at::Tensor& table = tables_.weights();
    const std::int64_t width = table.size(1);
    const std::int64_t rows = batch.labels.size(0);
    const std::int64_t all_bags = batch.offsets.size(0) - 1;
    touched.slots = batch.slots.to(at::kLong);
    touched.values = table.index_select(0, touched.slots);
    if (c10::GradMode::is_enabled()) touched.values.requires_grad_(true);
    at::Tensor bags;
    if (batch.places.size(0) == 0) {
      bags = at::zeros({all_bags, width}, table.options());
    } else {
      const std::int64_t mode = spec_.pooling == TrainerSpec::Pooling::kMean ? kBagMean : kBagSum;
      bags = std::get<0>(at::_embedding_bag(touched.values, batch.places, batch.offsets,
                                            /*scale_grad_by_freq=*/false, mode, /*sparse=*/false,
                                            /*per_sample_weights=*/{},
                                            /*include_last_offset=*/true));
    }
    if (batch.bags.defined()) return at::embedding(bags, batch.bags);
    return bags.view({all_bags / rows, rows, width}).transpose(0, 1).contiguous();
  }

  /// Returns the norm of the gradients, float32 on the device: infinite if the sum of their squares
  /// is, as then an optimizer's state may be.
  at::Tensor update(std::uint64_t number, const TouchedRows& touched) {
    const c10::AutoGradMode off(false);
    rate_ = learning_rate_at(spec_, number);
    steps_.add_(1);
    std::vector<at::Tensor> gradients;
    for (const Parameter& parameter : dense_) gradients.push_back(parameter.value.grad());
    gradients.push_back(touched.values.grad());
    if (spec_.clip_norm > 0) clip(gradients, spec_.clip_norm);
    at::Tensor norm = norm_of(gradients);
    const auto steps = steps_.item<std::int64_t>();
    for (std::size_t index = 0; index < dense_.size(); ++index) {
      Parameter& parameter = dense_[index];
      update_parameter({spec_.optimizer, *rate_, steps}, gradients[index], parameter.value,
                       parameter.moments);
      parameter.value.mutable_grad().reset();
    }
    if (gradients.back().defined()) {
      update_rows(*rate_, touched.slots, gradients.back(), tables_.weights(), tables_.moments());
    }
    return norm;
  }

  const TrainerSpec spec_;
  const ModelShape shape_;
  const std::unique_ptr<DeviceLanes> lanes_;
  const std::unique_ptr<const Network> network_;
  std::vector<Parameter> dense_;  // In the network's order.
  at::Tensor steps_;              // Adam's count, int64 [1], on the host.
  std::optional<double> rate_;
  const std::unique_ptr<CopyRoom> room_;
  ThreadTeam team_;  // Lays batches out, and copies rows home.
  DeviceTables tables_;
  LookAhead ahead_;
};

}  // namespace

Result<std::unique_ptr<Model>> make_autograd_model(const TrainerSpec& spec,
                                                   const ModelShape& shape) {
  auto room = std::make_unique<CopyRoom>(copy_slot_bytes(shape), copy_room_bytes(shape));
  auto host = make_tables(spec, shape, *room);
  if (!host) return pass(host);
  return guard_torch([&]() -> std::unique_ptr<Model> {
    return std::make_unique<AutogradModel>(spec, shape, std::move(room), std::move(*host));
  });
}

}  // namespace forebay
