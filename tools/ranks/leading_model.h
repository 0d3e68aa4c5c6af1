#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "tools/ranks/rank_leader.h"
#include "trainer/model.h"

namespace forebay {

/// Rank 0's model as the one model of all ranks: whatever it does, it first tells the others to do
/// the same, so that nobody who trains, scores or saves has to know of ranks.
///
/// Owns rank 0's model. A batch that it steps on is the leader's own slice. `leader` outlives it,
/// and its snapshots.
class LeadingModel final : public Model {
 public:
  LeadingModel(std::unique_ptr<Model> own, RankLeader& leader)
      : own_(std::move(own)), leader_(leader) {}

  bool learns() const override { return own_->learns(); }
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
};

}  // namespace forebay
