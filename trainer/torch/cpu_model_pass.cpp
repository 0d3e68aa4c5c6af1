#include <cmath>
#include <cstring>

#include <c10/core/InferenceMode.h>

#include "trainer/evaluation.h"
#include "trainer/torch/batch_tensors.h"
#include "trainer/torch/cpu_model.h"
#include "trainer/torch/parallel.h"

// Forward and backward, group by group.
namespace forebay {
namespace {

/// Returns the sum of the group's losses; writes the gradients of that sum, times `scale`.
double take_loss(const Batch& batch, const Group& group, std::span<const float> logits,
                 std::span<float> gradients, double scale) {
  double sum = 0;
  for (std::size_t row = 0; row < group.rows; ++row) {
    const double logit = logits[row];
    const double label = batch.labels[group.first + row];
    sum += log_loss_of(logit, true) + (1 - label) * logit;
    gradients[row] = static_cast<float>((1 / (1 + std::exp(-logit)) - label) * scale);
  }
  return sum;
}

}  // namespace

double CpuModel::pass_over(const Batch& batch, const BatchRows& rows, double scale) {
  const std::size_t pooled = batch.sparse_features * batch.rows * width_ * sizeof(float);
  if (pooled_gradients_.size() < pooled) pooled_gradients_ = Pages(pooled);

  std::vector<double> losses(rows.shares);
  for_each_task(threads_, static_cast<int>(rows.shares), [&](int task, int thread) {
    const c10::InferenceMode no_autograd;
    const auto share = static_cast<std::size_t>(task);
    Workspace& space = spaces_[static_cast<std::size_t>(thread)];
    std::memset(gradients_.as<float>() + share * parameters_, 0, parameters_ * sizeof(float));
    for_each_group(batch, rows, share, space, [&](const Group& group) {
      GroupWorker& worker = *space.worker;
      const std::span<const float> logits = forward(batch, rows, group, space);
      losses[share] += take_loss(batch, group, logits, worker.logit_gradients(), scale);
      float* vectors = pooled_gradients_.as<float>() + group.first * width_;
      worker.backward(dense_input(batch, group), sums_[share],
                      {vectors, batch.rows * width_, width_});
    });
  });
  double sum = 0;
  for (double loss : losses) sum += loss;
  return sum;
}

void CpuModel::score(const Batch& batch, const BatchRows& rows, std::span<float> scores) {
  for_each_task(threads_, static_cast<int>(rows.shares), [&](int share, int thread) {
    const c10::InferenceMode no_autograd;
    Workspace& space = spaces_[static_cast<std::size_t>(thread)];
    for_each_group(batch, rows, static_cast<std::size_t>(share), space, [&](const Group& group) {
      std::ranges::copy(forward(batch, rows, group, space), scores.data() + group.first);
    });
  });
}

template <class Work>
void CpuModel::for_each_group(const Batch& batch, const BatchRows& rows, std::size_t share,
                              Workspace& space, const Work& work) {
  space.next_id.resize(batch.sparse_features);
  for (std::size_t feature = 0; !distributed_ && feature < batch.sparse_features; ++feature) {
    space.next_id[feature] = rows.share_starts[feature * rows.shares + share];
  }
  const std::size_t end = std::min((share + 1) * rows.share_rows, batch.rows);
  for (std::size_t first = share * rows.share_rows; first < end; first += kModelGroupRows) {
    const Group group{first, std::min(kModelGroupRows, end - first)};
    work(group);
  }
}

at::Tensor CpuModel::dense_input(const Batch& batch, const Group& group) const {
  if (batch.dense_features == 0) return ones_.narrow(0, 0, static_cast<std::int64_t>(group.rows));
  return dense_tensor(batch, group.first, group.rows);
}

std::span<const float> CpuModel::forward(const Batch& batch, const BatchRows& rows,
                                         const Group& group, Workspace& space) {
  const VectorLocations vectors = space.worker->begin(group.rows);
  if (distributed_) distributed_->put(group.first, group.rows, vectors);
  for (std::size_t feature = 0; !distributed_ && feature < tables_->features(); ++feature) {
    const std::int32_t* lengths = batch.lengths + feature * batch.rows + group.first;
    space.next_id[feature] +=
        tables_->pool(feature, rows, space.next_id[feature], {lengths, group.rows},
                      vectors.at(feature, 0), vectors.row_stride);
  }
  return space.worker->forward(dense_input(batch, group));
}

}  // namespace forebay
