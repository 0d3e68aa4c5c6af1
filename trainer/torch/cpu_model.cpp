#include "trainer/torch/cpu_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include "core/base/check.h"
#include "trainer/bad_loss.h"
#include "trainer/torch/batch_tensors.h"
#include "trainer/torch/models.h"
#include "trainer/torch/torch_error.h"

namespace forebay {

CpuModel::CpuModel(const TrainerSpec& spec, const ModelShape& shape,
                   std::unique_ptr<EmbeddingTables> tables, std::optional<Distributed> distributed)
    : spec_(spec),
      shape_(shape),
      threads_(std::max(spec.threads, 1)),
      network_(make_network(shape)),
      width_(shape.row_width()),
      parameters_(size_of(network_->parameters())),
      tables_(std::move(tables)),
      optimizer_(spec.optimizer, parameters_),
      weights_(parameters_ * sizeof(float)),
      gradients_(kModelShares * parameters_ * sizeof(float)),
      ones_(at::ones({static_cast<std::int64_t>(kModelGroupRows), 1}, at::kFloat)),
      ranks_(distributed ? &distributed->ranks : nullptr) {
  auto* weights = weights_.as<float>();
  network_->initialise({weights, parameters_}, spec.seed);
  views_ = views_over(network_->parameters(), weights);
  for (std::size_t share = 0; share < kModelShares; ++share) {
    sums_.push_back(
        views_over(network_->parameters(), gradients_.as<float>() + share * parameters_));
  }
  for (int thread = 0; thread < threads_; ++thread) {
    spaces_.push_back({network_->make_worker(views_), {}});
  }
  if (distributed) {
    distributed_.emplace(distributed->ranks, shape, distributed->placement,
                         RankedTables::Parts{*tables_, std::move(distributed->replicas)},
                         spec.pooling);
  }
}

Status CpuModel::check(const Batch& batch) const {
  const bool rows = batch.rows > 0 || distributed_;
  if (rows && batch.dense_features == shape_.dense_features) return {};
  return fail(Code::kInvalid,
              "batch " + std::to_string(batch.number) + " has " + std::to_string(batch.rows) +
                  " rows of " + std::to_string(batch.dense_features) +
                  " dense features, the model takes " + std::to_string(shape_.dense_features));
}

Result<double> CpuModel::step(const Batch& batch) {
  if (auto status = check(batch); !status) return pass(status);
  if (distributed_) return step_distributed(batch);
  auto rows = tables_->begin(batch);
  if (!rows) return pass(rows);
  auto loss = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    const double mean = 1 / static_cast<double>(batch.rows);
    const double sum = pass_over(batch, **rows, mean);
    if (std::isfinite(sum)) update(batch, **rows);
    return sum * mean;
  });
  if (loss && !std::isfinite(*loss)) {
    loss = tl::unexpected<Error>(name_row(batch, **rows, *loss));
  }
  tables_->end();
  return loss;
}

/// Weights are not updated yet, so scoring again reproduces the loss.
Error CpuModel::name_row(const Batch& batch, const BatchRows& rows, double loss) {
  std::vector<float> logits(batch.rows);
  auto scored = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    score(batch, rows, logits);
  });
  if (!scored) return scored.error();
  BadLoss what{.batch = batch, .loss = loss, .logits = logits};
  if (distributed_) {
    what.first_row = distributed_->first_row();
  } else {
    what.bad_vector = [&](std::size_t row) { return bad_vector(batch, rows, row); };
  }
  return bad_loss(what, shape_);
}

std::size_t CpuModel::bad_vector(const Batch& batch, const BatchRows& rows, std::size_t row) const {
  std::vector<float> vector(width_);
  for (std::size_t feature = 0; feature < tables_->features(); ++feature) {
    const std::span lengths(batch.lengths + feature * batch.rows, batch.rows);
    const std::size_t before =
        std::accumulate(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(row),
                        rows.first_id[feature]);
    tables_->pool(feature, rows, before, lengths.subspan(row, 1), vector.data(), width_);
    if (!std::ranges::all_of(vector, [](float value) { return std::isfinite(value); })) {
      return feature;
    }
  }
  return tables_->features();
}

Status CpuModel::predict(const Batch& batch, std::span<float> scores) {
  FOREBAY_CHECK(scores.size() == batch.rows);
  if (auto status = check(batch); !status) return status;
  if (distributed_) return predict_distributed(batch, scores);
  auto rows = tables_->begin_scoring(batch);
  if (!rows) return pass(rows);
  auto scored = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    score(batch, **rows, scores);
  });
  tables_->end_scoring();
  return scored;
}

std::vector<MemoryTensor> CpuModel::dense_state() {
  std::vector<MemoryTensor> tensors;
  append_state(network_->parameters(), weights_.as<float>(), StateTensor::Part::kWeights, tensors);
  for (const DenseOptimizer::Moment& moment : optimizer_.moments()) {
    append_state(network_->parameters(), moment.values, StateTensor::Part::kOptimizer, tensors,
                 moment.suffix);
  }
  optimizer_.append_count(tensors);
  if (distributed_) distributed_->append_to(tensors);
  return tensors;
}

Result<std::unique_ptr<Model>> make_cpu_model(const TrainerSpec& spec, const ModelShape& shape,
                                              Collective* ranks) {
  ModelShape own = shape;
  TrainerSpec of_tables = spec;
  std::optional<CpuModel::Distributed> distributed;
  if (ranks != nullptr) {
    distributed.emplace(
        CpuModel::Distributed{*ranks, place_tables(spec, shape, ranks->size()), nullptr});
    own = shards_of(shape, distributed->placement, ranks->rank());
    if (!distributed->placement.replicated.empty()) {
      auto replicas =
          EmbeddingTables::make(spec_of_replicas(spec), replicas_of(shape, distributed->placement));
      if (!replicas) return pass(replicas);
      distributed->replicas = std::move(*replicas);
    }
    of_tables = spec_of_shards(spec, shape, distributed->placement, ranks->rank());
    // The rank that has a bag divides by its length.
    of_tables.pooling = TrainerSpec::Pooling::kSum;
  }
  auto tables = EmbeddingTables::make(of_tables, own);
  if (!tables) return pass(tables);
  return guard_torch([&]() -> std::unique_ptr<Model> {
    return std::make_unique<CpuModel>(spec, shape, std::move(*tables), std::move(distributed));
  });
}

}  // namespace forebay
