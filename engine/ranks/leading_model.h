#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_follower.h"
#include "engine/ranks/rank_leader.h"
#include "trainer/model.h"
#include "trainer/ranks/batch_divider.h"

namespace forebay {

/// Rank 0's model, which acts as the one model of all ranks: it sends each call to the other ranks
/// as a command before it executes the call. Code that trains, scores or saves does not depend on
/// ranks.
///
/// Divides prefetched batches by the owners of their rows, a few batches ahead of the step: each
/// rank receives the ids that the batch needs from it, and need not exchange ids within the step.
///
/// Owns rank 0's model. A batch that it steps on is the leader's own slice. `leader` outlives this
/// object and its snapshots.
class LeadingModel final : public Model {
 public:
  /// `dividers`: by rank, select the ids of a batch that the rank's tables own; empty if the models
  /// prefetch nothing.
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
  std::vector<TableTiers> tiers() const override { return own_->tiers(); }
  /// Returns a snapshot of all ranks; each table is read from the ranks that own it.
  Result<std::unique_ptr<StateSource>> snapshot() override;
  /// The other ranks read the same state through the source that goes_on_from() was given.
  Status restore(StateSource& from) override;
  void goes_on_from(RankLeader::OpenState open) { open_ = std::move(open); }

 private:
  const std::unique_ptr<Model> own_;
  RankLeader& leader_;
  RankLeader::OpenState open_;

  /// Batches that were passed to prefetch(), in their order.
  struct Expected {
    std::deque<std::shared_ptr<const Batch>> waiting;
    std::deque<std::uint64_t> announced;  // numbers of batches whose ids were sent to all ranks
  };
  /// Announces waiting batches while fewer than the limit are announced.
  void tell_more(Expected& expected);
  bool tell(const Batch& batch);
  bool was_announced(std::uint64_t number);

  std::vector<BatchDivider> dividers_;  // used under the lock of expected_
  Synchronized<Expected> expected_;
};

/// Result of a run on a rank other than 0.
struct Followed {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;  ///< Rows of this rank.
  int signal = 0;          ///< The signal that stopped all ranks; 0: no signal.
};

/// Executes rank 0's commands until the run is over. Fails with the error of this rank or of rank
/// 0.
Result<Followed> follow(RankFollower& leader, Model& model);

}  // namespace forebay
