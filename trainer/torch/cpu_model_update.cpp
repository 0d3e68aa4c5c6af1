#include <cmath>
#include <numeric>

#include "trainer/schedule.h"
#include "trainer/torch/cpu_model.h"
#include "trainer/torch/optimizer.h"
#include "trainer/torch/parallel.h"

// Sums and applies gradients, one part at a time.
namespace forebay {

std::span<float> CpuModel::sums_of(std::size_t part) {
  if (part < tables()) return distributed_ ? distributed_->sums(part) : tables_->sums(part);
  const std::size_t first = (part - tables()) * kBlock;
  return {gradients_.as<float>() + first, std::min(kBlock, parameters_ - first)};
}

void CpuModel::gather(std::size_t part, const Batch& batch, const BatchRows& rows) {
  const std::size_t features = tables();
  if (part < features && distributed_) return distributed_->add_up(part);
  if (part < features) {
    return tables_->add_up(part, batch, rows,
                           pooled_gradients_.as<float>() + part * batch.rows * width_);
  }
  std::vector<const float*> rest;
  rest.reserve(rows.shares);
  for (std::size_t share = 1; share < rows.shares; ++share) {
    rest.push_back(gradients_.as<float>() + share * parameters_ + (part - features) * kBlock);
  }
  add_shares(sums_of(part), rest);
}

void CpuModel::apply(std::size_t part, const BatchRows& rows) {
  const std::size_t features = tables();
  const auto rate = static_cast<float>(*rate_);
  if (part < features && distributed_) return distributed_->apply(part, rate);
  if (part < features) return tables_->apply(part, rows, rate);
  optimizer_.update((part - features) * kBlock, sums_of(part),
                    weights_.as<float>() + (part - features) * kBlock);
}

void CpuModel::update(const Batch& batch, const BatchRows& rows) {
  rate_ = learning_rate_at(spec_, batch.number);
  optimizer_.begin_step(*rate_);
  const bool clips = spec_.clip_norm > 0;
  std::vector<double> squares(parts());
  for_each_task(threads_, static_cast<int>(parts()), [&](int task, int) {
    const auto part = static_cast<std::size_t>(task);
    gather(part, batch, rows);
    if (clips) {
      squares[part] = sum_of_squares(sums_of(part));
    } else {
      apply(part, rows);
    }
  });
  if (clips) cut_and_apply(std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0)), rows);
}

void CpuModel::cut_and_apply(double norm, const BatchRows& rows) {
  const float factor = clip_factor(norm, spec_.clip_norm);
  for_each_task(threads_, static_cast<int>(parts()), [&](int task, int) {
    const auto part = static_cast<std::size_t>(task);
    if (factor < 1) scale(sums_of(part), factor);
    apply(part, rows);
  });
}

}  // namespace forebay
