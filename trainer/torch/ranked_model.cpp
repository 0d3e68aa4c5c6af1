#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <c10/core/InferenceMode.h>

#include "core/base/check.h"
#include "trainer/model.h"
#include "trainer/spec.h"
#include "trainer/torch/dense_network.h"
#include "trainer/torch/libtorch.h"
#include "trainer/torch/module_functions.h"
#include "trainer/torch/ranked_tables.h"

namespace forebay {
namespace {

/// One rank's part of a model: some of the tables, and the network over the vectors of its rows.
///
/// Gradients of the network are summed over the ranks, so its weights stay the same on all.
class RankedModel final : public Model {
 public:
  /// `shards` are this rank's tables, `replicas` those that every rank has; null: none.
  RankedModel(const TrainerSpec& spec, const ModelShape& shape, Collective& ranks,
              const TablePlacement& placement, std::unique_ptr<EmbeddingTables> shards,
              std::unique_ptr<EmbeddingTables> replicas)
      : spec_(spec),
        shape_(shape),
        ranks_(ranks),
        shards_(std::move(shards)),
        tables_(ranks, shape, placement, {*shards_, std::move(replicas)}, spec.pooling),
        network_(spec, shape) {}

  bool learns() const override { return true; }
  void prefetch(std::shared_ptr<const Batch> ids) override { tables_.prefetch(ids); }

  Result<double> step(const Batch& batch) override {
    if (auto status = check_batch(batch, shape_, true); !status) return pass(status);
    auto begun = tables_.begin(batch, RankedTables::Use::kTrain, network_.threads());
    if (!begun) return pass(begun);
    shares_ = Shares::of(batch.rows, tables_.global_rows());
    const double mean = 1 / static_cast<double>(tables_.global_rows());
    Result<bool> updated = true;
    std::string at_fault;
    auto loss = guard_torch([&] {
      const c10::InferenceMode no_autograd;
      double sum = network_.train(batch, shares_, mean, put());
      if (!std::isfinite(sum)) at_fault = name_row(batch, sum);
      updated = update(batch, sum);
      return sum * mean;
    });
    tables_.end();
    if (!updated) return pass(updated);
    if (loss && !std::isfinite(*loss)) {
      return tl::unexpected<Error>(fault_of_all(batch, *loss, at_fault));
    }
    if (loss && !*updated) {
      return tl::unexpected<Error>(bad_update({batch, tables_.first_row()}, shape_));
    }
    return loss;
  }

  LookupCounts lookups() const override { return of_all_; }
  std::vector<TableTiers> tiers() const override { return tables_.tiers(); }

  Status predict(const Batch& batch, std::span<float> scores) override {
    FOREBAY_CHECK(scores.size() == batch.rows);
    if (auto status = check_batch(batch, shape_, true); !status) return status;
    auto begun = tables_.begin(batch, RankedTables::Use::kScore, network_.threads());
    if (!begun) return begun;
    auto scored = guard_torch(
        [&] { network_.score(batch, Shares::of(batch.rows, batch.rows), put(), scores); });
    tables_.end();
    return scored;
  }

  void set_threads(int threads) override { network_.set_threads(threads); }
  std::optional<double> learning_rate() const override { return rate_; }
  Result<std::unique_ptr<StateSource>> snapshot() override {
    return shards_->snapshot(other_state());
  }
  Status restore(StateSource& from) override { return shards_->restore(from, other_state()); }

 private:
  DenseNetwork::Put put() const {
    return [this](const Group& group, const VectorLocations& to) {
      tables_.put(group.first, group.rows, to);
    };
  }
  /// Names the first row at fault of this rank's rows.
  /// Weights are not updated yet, so scoring again reproduces the loss.
  std::string name_row(const Batch& batch, double loss) {
    std::vector<float> logits(batch.rows);
    auto scored = guard_torch([&] { network_.score(batch, shares_, put(), logits); });
    if (!scored) return scored.error().message;
    return bad_loss(
               {.batch = batch, .loss = loss, .logits = logits, .first_row = tables_.first_row()},
               shape_)
        .message;
  }

  /// Builds the error of a loss that is not finite: that of the first rank whose rows are at fault.
  Error fault_of_all(const Batch& batch, double loss, const std::string& at_fault) {
    auto said = all_gather(ranks_, at_fault);
    if (!said) return said.error();
    for (std::string& each : *said) {
      if (!each.empty()) return {Code::kCorrupt, std::move(each)};
    }
    return bad_loss({.batch = batch, .loss = loss}, shape_);
  }

  /// Updates the weights with the gradients of all ranks, and replaces `loss` by that of all ranks.
  ///
  /// Sends the gradients that the tables wait for first and sums the network's gradients meanwhile;
  /// those sums are in flight while the tables are updated. The parts of an update are this rank's
  /// shards, the replicas, then the blocks of the network. Returns whether all that this
  /// rank updated is finite.
  Result<bool> update(const Batch& batch, double& loss) {
    rate_ = learning_rate_at(spec_, batch.number);
    network_.begin_step(*rate_);
    tables_.start_gradients(network_.pooled_gradients(), network_.threads());
    const std::vector<Collective::Handle> sums = start_sums(loss);
    if (auto came = tables_.wait_gradients(); !came) return pass(came);

    const std::size_t shards = tables_.shards();
    const std::size_t tables = tables_.tables();
    const std::size_t parts = tables + network_.blocks();
    const auto sums_of = [&](std::size_t part) {
      return part < tables ? tables_.sums(part) : network_.sums(part - tables);
    };
    std::atomic<bool> finite = true;
    const auto apply = [&](std::size_t part) {
      const bool good = part >= tables ? network_.update(part - tables)
                                       : tables_.apply(part, static_cast<float>(*rate_));
      if (!good) finite = false;
    };
    const bool clips = spec_.clip_norm > 0;
    std::vector<double> squares(parts);
    const auto finish = [&](std::size_t part) {
      if (clips) {
        squares[part] = sum_of_squares(sums_of(part));
      } else {
        apply(part);
      }
    };
    for_each_task(network_.threads(), shards, [&](std::size_t shard, int) {
      tables_.add_up(shard);
      finish(shard);
    });
    for (const Collective::Handle& sum : sums) {
      if (auto summed = sum->wait(); !summed) return pass(summed);
    }
    loss = take_sums();
    if (auto summed = tables_.wait_replicas(); !summed) return pass(summed);
    for_each_task(network_.threads(), parts - shards,
                  [&](std::size_t part, int) { finish(shards + part); });
    if (!clips) return finite.load();
    // The parts after the shards are the same on all ranks.
    const auto rest = squares.begin() + static_cast<std::ptrdiff_t>(shards);
    auto of_shards = sum_over_ranks(ranks_, std::accumulate(squares.begin(), rest, 0.0));
    if (!of_shards) return pass(of_shards);
    const double norm = std::sqrt(std::accumulate(rest, squares.end(), *of_shards));
    cut_and_apply(network_.threads(), parts, clip_factor(norm, spec_.clip_norm), sums_of, apply);
    return finite.load();
  }

  /// Sums the gradients of the network and starts the sums over ranks, one part after the other.
  std::vector<Collective::Handle> start_sums(double loss) {
    constexpr std::size_t kBlocksAtOnce = 64;  // 1 MiB.
    std::vector<Collective::Handle> handles;
    for (std::size_t first = 0; first < network_.blocks(); first += kBlocksAtOnce) {
      const std::size_t end = std::min(first + kBlocksAtOnce, network_.blocks());
      for_each_task(network_.threads(), end - first,
                    [&](std::size_t block, int) { network_.add_up(first + block, shares_); });
      float* begin = network_.sums(first).data();
      const float* after = std::to_address(network_.sums(end - 1).end());
      auto count = static_cast<std::size_t>(after - begin);
      if (end == network_.blocks()) {
        // The memory behind the sums carries the other values, sent with the last sums.
        const LookupCounts now = tables_.lookups();
        begin[count++] = static_cast<float>(loss);
        begin[count++] = static_cast<float>(now.all - told_.all);
        begin[count++] = static_cast<float>(now.ready - told_.ready);
        told_ = now;
      }
      handles.push_back(ranks_.start_all_reduce({begin, count}));
    }
    return handles;
  }

  /// Takes the other values that start_sums sent: the loss (returned), and lookups.
  double take_sums() {
    const float* others = network_.behind_sums();
    of_all_.all += static_cast<std::uint64_t>(others[1]);
    of_all_.ready += static_cast<std::uint64_t>(others[2]);
    return others[0];
  }

  std::vector<MemoryTensor> other_state() {
    std::vector<MemoryTensor> tensors;
    network_.append_to(tensors);
    tables_.append_to(tensors);
    return tensors;
  }

  const TrainerSpec spec_;
  const ModelShape shape_;
  Collective& ranks_;
  std::optional<double> rate_;  // Of the last step.
  const std::unique_ptr<EmbeddingTables> shards_;
  RankedTables tables_;
  DenseNetwork network_;
  Shares shares_;        // Of this rank's rows.
  LookupCounts of_all_;  // Sums over all ranks.
  LookupCounts told_;    // This rank's counts that were sent to the others.
};

}  // namespace

Result<std::unique_ptr<Model>> make_ranked_model(const TrainerSpec& spec, const ModelShape& shape,
                                                 Collective& ranks) {
  const TablePlacement placement = place_tables(spec, shape, ranks.size());
  std::unique_ptr<EmbeddingTables> replicas;
  if (!placement.replicated.empty()) {
    auto made = EmbeddingTables::make(spec_of_replicas(spec), replicas_of(shape, placement));
    if (!made) return pass(made);
    replicas = std::move(*made);
  }
  TrainerSpec of_shards = spec_of_shards(spec, shape, placement, ranks.rank());
  // The rank that has a bag divides by its length.
  of_shards.pooling = TrainerSpec::Pooling::kSum;
  auto shards = EmbeddingTables::make(of_shards, shards_of(shape, placement, ranks.rank()));
  if (!shards) return pass(shards);
  return guard_torch([&]() -> std::unique_ptr<Model> {
    return std::make_unique<RankedModel>(spec, shape, ranks, placement, std::move(*shards),
                                         std::move(replicas));
  });
}

}  // namespace forebay
