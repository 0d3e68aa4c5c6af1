#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_leader.h"
#include "trainer/model.h"
#include "trainer/ranks/batch_divider.h"

namespace forebay {

/// Rank 0's model as the one model of all ranks: whatever it does, it first tells the others to do
/// the same, so that nobody who trains, scores or saves has to know of ranks.
///
/// Batches that are expected it divides by the rows' owners, a few ahead of the step: each rank is
/// told of what it will be asked for, and need not ask within the step.
///
/// Owns rank 0's model. A batch that it steps on is the leader's own slice. `leader` outlives it,
/// and its snapshots.
class LeadingModel final : public Model {
 public:
  /// `dividers`: by rank, what its tables want of a batch; empty where models look ahead at
  /// nothing.
  LeadingModel(std::unique_ptr<Model> own, RankLeader& leader,
               std::vector<BatchDivider> dividers = {})
      : own_(std::move(own)), leader_(leader), dividers_(std::move(dividers)) {}

  bool learns() const override { return own_->learns(); }
  void prefetch(std::shared_ptr<const Batch> batch) override;
  Result<double> step(const Batch& batch) override;
  Status predict(const Batch& batch, std::span<float> scores) override;
  void set_threads(int threads) override { own_->set_threads(threads); }
  std::optional<double> learning_rate() const override { return own_->learning_rate(); }
  LookupCounts lookups() const override { return own_->lookups(); }
  /// Of all ranks, tables of each from where they are.
  Result<std::unique_ptr<StateSource>> snapshot() override;
  /// The others read the same state from where goes_on_from said.
  Status restore(StateSource& from) override;
  void goes_on_from(RankLeader::OpenState open) { open_ = std::move(open); }

 private:
  const std::unique_ptr<Model> own_;
  RankLeader& leader_;
  RankLeader::OpenState open_;

  /// Batches that are expected, in their order.
  struct Expected {
    std::deque<std::shared_ptr<const Batch>> waiting;
    std::deque<std::uint64_t> announced;  // numbers of those that all were told of
  };
  /// Tells of batches that wait, while few enough are told.
  void tell_more(Expected& expected);
  bool tell(const Batch& batch);
  bool was_announced(std::uint64_t number);

  std::vector<BatchDivider> dividers_;  // used within expected_.change
  Synchronized<Expected> expected_;
};

}  // namespace forebay
