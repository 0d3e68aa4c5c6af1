#include "trainer/torch/dense_network.h"

#include <cmath>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include "trainer/evaluation/evaluation.h"
#include "trainer/torch/libtorch.h"

namespace forebay {
namespace {

/// Multiplies the losses of a group's rows, and so their gradients, by the rows' weights.
double take_weighted_loss(const Batch& batch, std::size_t first, std::span<const float> logits,
                          std::span<float> gradients, double scale) {
  double sum = 0;
  for (std::size_t row = 0; row < logits.size(); ++row) {
    const double logit = logits[row];
    const double label = batch.labels[first + row];
    const double weight = batch.weights[first + row];
    sum += weight * (log_loss_of(logit, true) + (1 - label) * logit);
    gradients[row] = static_cast<float>((1 / (1 + std::exp(-logit)) - label) * weight * scale);
  }
  return sum;
}

/// Returns the sum of the group's losses; writes the gradients of that sum, times `scale`.
double take_loss(const float* labels, std::span<const float> logits, std::span<float> gradients,
                 double scale) {
  double sum = 0;
  for (std::size_t row = 0; row < logits.size(); ++row) {
    const double logit = logits[row];
    const double label = labels[row];
    sum += log_loss_of(logit, true) + (1 - label) * logit;
    gradients[row] = static_cast<float>((1 / (1 + std::exp(-logit)) - label) * scale);
  }
  return sum;
}

}  // namespace

Shares Shares::of(std::size_t rows, std::size_t whole) {
  const std::size_t each = std::max<std::size_t>((whole + kModelShares - 1) / kModelShares, 1);
  return {.rows = each, .shares = (rows + each - 1) / each};
}

DenseNetwork::DenseNetwork(const TrainerSpec& spec, const ModelShape& shape)
    : threads_(std::max(spec.threads, 1)),
      network_(make_network(shape)),
      row_width_(shape.row_width()),
      parameters_(size_of(network_->parameters())),
      optimizer_(spec.optimizer, parameters_),
      weights_(parameters_ * sizeof(float)),
      gradients_(kModelShares * parameters_ * sizeof(float)),
      ones_(at::ones({extent(kModelGroupRows), 1}, at::kFloat)) {
  auto* weights = weights_.as<float>();
  initialise(network_->parameters(), spec.seed, {weights, parameters_});
  operands_ = views_over(network_->parameters(), weights);
  const bool rounds = spec.precision == TrainerSpec::Precision::kBf16;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!rounds || !network_->parameters()[i].rounds) continue;
    const at::Tensor exact = operands_[i];
    operands_[i] = at::empty_like(exact, at::kBFloat16);
    rounded_.push_back({.exact = exact, .rounded = operands_[i]});
  }
  for (std::size_t share = 0; share < kModelShares; ++share) {
    sums_.push_back(
        views_over(network_->parameters(), gradients_.as<float>() + share * parameters_));
  }
  for (int thread = 0; thread < threads_; ++thread) {
    workers_.push_back(network_->make_worker(operands_));
  }
}

/// Weights stay float32 and change at each step, so products take them rounded anew.
void DenseNetwork::round_weights() {
  if (rounded_.empty()) return;
  for_each_task(threads_, rounded_.size(), [&](std::size_t i, int) {
    const c10::InferenceMode no_autograd;
    rounded_[i].rounded.copy_(rounded_[i].exact);
  });
}

template <class Work>
void DenseNetwork::for_each_group(const Batch& batch, const Shares& shares, const Work& work) {
  round_weights();
  for_each_task(threads_, shares.shares, [&](std::size_t share, int thread) {
    const c10::InferenceMode no_autograd;
    const std::size_t begin = share * shares.rows;
    const std::size_t end = std::min(begin + shares.rows, batch.rows);
    for (std::size_t first = begin; first < end; first += kModelGroupRows) {
      work(Group{share, thread, first, std::min(kModelGroupRows, end - first), first == begin});
    }
  });
}

double DenseNetwork::train(const Batch& batch, const Shares& shares, double scale, const Put& put) {
  const std::size_t floats = batch.sparse_features * batch.rows * row_width_;
  if (pooled_gradients_.size() < floats * sizeof(float)) {
    pooled_gradients_ = Pages(floats * sizeof(float));
  }
  std::vector<double> losses(shares.shares);
  for_each_group(batch, shares, [&](const Group& group) {
    const std::span<const float> logits = forward(batch, group, put);
    const std::span<float> gradients = worker(group).logit_gradients();
    losses[group.share] += batch.weights == nullptr
                               ? take_loss(batch.labels + group.first, logits, gradients, scale)
                               : take_weighted_loss(batch, group.first, logits, gradients, scale);
    worker(group).backward(
        dense_input(batch, group), {sums_[group.share], group.is_first},
        {pooled_gradients() + group.first * row_width_, batch.rows * row_width_, row_width_});
  });
  double sum = 0;
  for (double loss : losses) sum += loss;
  return sum;
}

void DenseNetwork::score(const Batch& batch, const Shares& shares, const Put& put,
                         std::span<float> scores) {
  for_each_group(batch, shares, [&](const Group& group) {
    std::ranges::copy(forward(batch, group, put), scores.data() + group.first);
  });
}

std::span<const float> DenseNetwork::forward(const Batch& batch, const Group& group,
                                             const Put& put) {
  put(group, worker(group).begin(group.rows));
  return worker(group).forward(dense_input(batch, group));
}

/// Over the batch's own memory, without a copy.
at::Tensor DenseNetwork::dense_input(const Batch& batch, const Group& group) const {
  if (batch.dense_features == 0) return ones_.narrow(0, 0, extent(group.rows));
  return at::from_blob(batch.dense + group.first * batch.dense_features,
                       {extent(group.rows), extent(batch.dense_features)}, at::kFloat);
}

void DenseNetwork::add_up(std::size_t block, const Shares& shares) {
  // The first share is not written without rows.
  if (shares.shares == 0) std::ranges::fill(sums(block), 0.0f);
  std::vector<const float*> rest;
  rest.reserve(shares.shares);
  for (std::size_t share = 1; share < shares.shares; ++share) {
    rest.push_back(gradients_.as<float>() + share * parameters_ + block * kBlock);
  }
  add_shares(sums(block), rest);
}

void DenseNetwork::append_to(std::vector<MemoryTensor>& tensors) {
  append_state(network_->parameters(), weights_.as<float>(), StateTensor::Part::kWeights, tensors);
  for (const DenseOptimizer::Moment& moment : optimizer_.moments()) {
    append_state(network_->parameters(), moment.values, StateTensor::Part::kOptimizer, tensors,
                 moment.suffix);
  }
  optimizer_.append_count(tensors);
}

}  // namespace forebay
