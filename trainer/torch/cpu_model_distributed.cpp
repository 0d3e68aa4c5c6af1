#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include <c10/core/InferenceMode.h>

#include "trainer/bad_loss.h"
#include "trainer/schedule.h"
#include "trainer/torch/cpu_model.h"
#include "trainer/torch/optimizer.h"
#include "trainer/torch/parallel.h"
#include "trainer/torch/torch_error.h"

// The operations with other ranks.
namespace forebay {

Error CpuModel::name_row_distributed(const Batch& batch, double loss, const std::string& at_fault) {
  auto said = all_gather(*ranks_, at_fault);
  if (!said) return said.error();
  for (std::string& each : *said) {
    if (!each.empty()) return {Code::kCorrupt, std::move(each)};
  }
  return bad_loss({.batch = batch, .loss = loss}, shape_);
}

Result<double> CpuModel::step_distributed(const Batch& batch) {
  auto begun = distributed_->begin(batch, RankedTables::Use::kTrain, threads_);
  if (!begun) return pass(begun);
  shares_.share_rows = (distributed_->global_rows() + kModelShares - 1) / kModelShares;
  shares_.shares = (batch.rows + shares_.share_rows - 1) / shares_.share_rows;
  const double mean = 1 / static_cast<double>(distributed_->global_rows());
  Status updated;
  std::string at_fault;
  auto loss = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    double sum = pass_over(batch, shares_, mean);
    if (!std::isfinite(sum)) at_fault = name_row(batch, shares_, sum).message;
    updated = update_distributed(batch, sum);
    return sum * mean;
  });
  distributed_->end();
  if (!updated) return pass(updated);
  if (loss && !std::isfinite(*loss)) {
    return tl::unexpected<Error>(name_row_distributed(batch, *loss, at_fault));
  }
  return loss;
}

Status CpuModel::predict_distributed(const Batch& batch, std::span<float> scores) {
  auto begun = distributed_->begin(batch, RankedTables::Use::kScore, threads_);
  if (!begun) return begun;
  shares_.share_rows = (batch.rows + kModelShares - 1) / kModelShares;
  shares_.shares = batch.rows == 0 ? 0 : (batch.rows + shares_.share_rows - 1) / shares_.share_rows;
  auto scored = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    score(batch, shares_, scores);
  });
  distributed_->end();
  return scored;
}

std::vector<Collective::Handle> CpuModel::start_sums(double loss) {
  constexpr std::size_t kBlocksAtOnce = 64;  // 1 MiB.
  auto* sums = gradients_.as<float>();
  if (shares_.shares == 0) std::memset(sums, 0, parameters_ * sizeof(float));
  std::vector<Collective::Handle> handles;
  for (std::size_t first = tables(); first < parts(); first += kBlocksAtOnce) {
    const std::size_t end = std::min(first + kBlocksAtOnce, parts());
    for_each_task(threads_, static_cast<int>(end - first), [&](int task, int) {
      gather(first + static_cast<std::size_t>(task), {}, shares_);
    });
    float* begin = sums_of(first).data();
    std::size_t count = static_cast<std::size_t>(std::to_address(sums_of(end - 1).end()) - begin);
    if (end == parts()) {
      // Behind the sums is a share that was already summed; its memory carries the other values,
      // sent with the last sums.
      const LookupCounts now = distributed_->lookups();
      begin[count++] = static_cast<float>(loss);
      begin[count++] = static_cast<float>(now.all - told_.all);
      begin[count++] = static_cast<float>(now.ready - told_.ready);
      told_ = now;
    }
    handles.push_back(ranks_->start_all_reduce({begin, count}));
  }
  return handles;
}

double CpuModel::take_sums() {
  const float* beside = gradients_.as<float>() + parameters_;
  of_all_.all += static_cast<std::uint64_t>(beside[1]);
  of_all_.ready += static_cast<std::uint64_t>(beside[2]);
  return beside[0];
}

// Sends the gradients that the tables wait for first and sums the network's gradients meanwhile;
// those sums are in flight while the tables are updated.
Status CpuModel::update_distributed(const Batch& batch, double& loss) {
  rate_ = learning_rate_at(spec_, batch.number);
  optimizer_.begin_step(*rate_);
  distributed_->start_gradients(pooled_gradients_.as<float>(), threads_);
  const std::vector<Collective::Handle> sums = start_sums(loss);
  if (auto came = distributed_->wait_gradients(); !came) return came;
  const bool clips = spec_.clip_norm > 0;
  std::vector<double> squares(parts());
  const std::size_t shards = distributed_->shards();
  for_each_task(threads_, static_cast<int>(shards), [&](int task, int) {
    const auto table = static_cast<std::size_t>(task);
    gather(table, batch, shares_);
    if (clips) {
      squares[table] = sum_of_squares(sums_of(table));
    } else {
      apply(table, shares_);
    }
  });
  for (const Collective::Handle& sum : sums) {
    if (auto summed = sum->wait(); !summed) return summed;
  }
  loss = take_sums();
  if (auto summed = distributed_->wait_replicas(); !summed) return summed;
  for_each_task(threads_, static_cast<int>(parts() - shards), [&](int task, int) {
    const std::size_t part = shards + static_cast<std::size_t>(task);
    if (clips) {
      squares[part] = sum_of_squares(sums_of(part));
    } else {
      apply(part, shares_);
    }
  });
  if (!clips) return {};
  // The parts after the shards are the same on all ranks.
  const auto rest = squares.begin() + static_cast<std::ptrdiff_t>(shards);
  auto tables = sum_over_ranks(*ranks_, std::accumulate(squares.begin(), rest, 0.0));
  if (!tables) return pass(tables);
  cut_and_apply(std::sqrt(std::accumulate(rest, squares.end(), *tables)), shares_);
  return {};
}

}  // namespace forebay
