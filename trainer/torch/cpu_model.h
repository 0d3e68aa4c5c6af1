#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/collective.h"
#include "trainer/ranks/placement.h"
#include "trainer/torch/dense_optimizer.h"
#include "trainer/torch/embedding_tables.h"
#include "trainer/torch/network.h"
#include "trainer/torch/ranked_tables.h"

namespace forebay {

/// Consecutive rows of a batch that one thread works on at a time.
struct Group {
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// The working memory of one thread.
struct Workspace {
  std::unique_ptr<GroupWorker> worker;
  std::vector<std::size_t> next_id;  // Per sparse feature, advanced with the groups of a share.
};

/// Processes the groups of a batch's shares; the network defines the computation.
class CpuModel final : public Model {
 public:
  /// With several ranks: the placement of tables, and the replicated tables (null: none).
  struct Distributed {
    Collective& ranks;
    TablePlacement placement;
    std::unique_ptr<EmbeddingTables> replicas;
  };

  /// Without `distributed` this is the only rank.
  CpuModel(const TrainerSpec& spec, const ModelShape& shape,
           std::unique_ptr<EmbeddingTables> tables, std::optional<Distributed> distributed);

  bool learns() const override { return true; }
  void prefetch(std::shared_ptr<const Batch> batch) override {
    distributed_ ? distributed_->prefetch(batch) : tables_->prefetch(std::move(batch));
  }
  Result<double> step(const Batch& batch) override;
  LookupCounts lookups() const override { return distributed_ ? of_all_ : tables_->lookups(); }
  Status predict(const Batch& batch, std::span<float> scores) override;
  void set_threads(int threads) override {
    threads_ = std::clamp(threads, 1, static_cast<int>(spaces_.size()));
  }
  std::optional<double> learning_rate() const override { return rate_; }
  Result<std::unique_ptr<StateSource>> snapshot() override {
    return tables_->snapshot(dense_state());
  }
  Status restore(StateSource& from) override { return tables_->restore(from, dense_state()); }

 private:
  static constexpr std::size_t kBlock = 4096;  // Parameters of the network updated by one task.

  /// Runs forward and backward; returns the sum of the losses. Gradients are of that sum, times
  /// `scale`.
  double pass_over(const Batch& batch, const BatchRows& rows, double scale);
  Result<double> step_distributed(const Batch& batch);
  Status predict_distributed(const Batch& batch, std::span<float> scores);
  void score(const Batch& batch, const BatchRows& rows, std::span<float> scores);
  Status check(const Batch& batch) const;
  Error name_row(const Batch& batch, const BatchRows& rows, double loss);
  /// The first feature whose vector for a row is not finite; the number of features if all are
  /// finite.
  std::size_t bad_vector(const Batch& batch, const BatchRows& rows, std::size_t row) const;
  /// Builds the error of a loss that is not finite: that of the first rank whose rows are at fault.
  Error name_row_distributed(const Batch& batch, double loss, const std::string& at_fault);
  /// Calls `work` for each group of the share.
  template <class Work>
  void for_each_group(const Batch& batch, const BatchRows& rows, std::size_t share,
                      Workspace& space, const Work& work);
  std::span<const float> forward(const Batch& batch, const BatchRows& rows, const Group& group,
                                 Workspace& space);
  void update(const Batch& batch, const BatchRows& rows);
  /// Updates the weights with the gradients of all ranks, and replaces `loss` by that of all ranks.
  Status update_distributed(const Batch& batch, double& loss);
  /// Sums the gradients of the network and starts the sums over ranks, one part after the other.
  std::vector<Collective::Handle> start_sums(double loss);
  /// Takes the other values that start_sums sent: the loss (returned), and lookups.
  double take_sums();
  /// Scales the summed gradients if their norm is too large, and applies them.
  void cut_and_apply(double norm, const BatchRows& rows);
  std::size_t tables() const { return distributed_ ? distributed_->tables() : tables_->features(); }
  std::size_t parts() const { return tables() + (parameters_ + kBlock - 1) / kBlock; }
  /// Sums the gradients of one part of the update; the parts are this rank's tables, then blocks of
  /// the network's parameters.
  void gather(std::size_t part, const Batch& batch, const BatchRows& rows);
  /// The sums of one part.
  std::span<float> sums_of(std::size_t part);
  void apply(std::size_t part, const BatchRows& rows);
  std::vector<MemoryTensor> dense_state();
  at::Tensor dense_input(const Batch& batch, const Group& group) const;

  const TrainerSpec spec_;
  const ModelShape shape_;
  int threads_;
  std::optional<double> rate_;  // Of the last step.
  const std::unique_ptr<const Network> network_;
  const std::size_t width_;       // Of a table's row.
  const std::size_t parameters_;  // Of the network.

  const std::unique_ptr<EmbeddingTables> tables_;
  DenseOptimizer optimizer_;
  Pages weights_;                              // [parameters_]
  Pages gradients_;                            // [kModelShares, parameters_]
  std::vector<at::Tensor> views_;              // Of weights_.
  std::vector<std::vector<at::Tensor>> sums_;  // Per share, views of gradients_.
  at::Tensor ones_;                            // The dense input of a model without one.

  std::vector<Workspace> spaces_;  // Per thread.
  Pages pooled_gradients_;         // [sparse_features, rows, width_]

  Collective* const ranks_;
  std::optional<RankedTables> distributed_;  // With ranks.
  BatchRows shares_;     // With ranks: the shares of this rank's rows; no other field is used.
  LookupCounts of_all_;  // With ranks: sums over all ranks.
  LookupCounts told_;    // With ranks: this rank's counts that were sent to the others.
};

}  // namespace forebay
