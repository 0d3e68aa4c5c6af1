#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>

#include "core/base/check.h"
#include "trainer/model.h"
#include "trainer/spec.h"
#include "trainer/torch/dense_network.h"
#include "trainer/torch/kernels/bf16.h"
#include "trainer/torch/kernels/embedding_tables.h"
#include "trainer/torch/kernels/repeated_bags.h"
#include "trainer/torch/libtorch.h"
#include "trainer/torch/module_functions.h"

namespace forebay {
namespace {

bool are_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

bool multiplies_bf16() { return at::hasMKLDNN() && machine_multiplies_bf16(); }

/// The model of a single rank: its own tables, and the network over their pooled vectors.
class CpuModel final : public Model {
 public:
  CpuModel(const TrainerSpec& spec, const ModelShape& shape,
           std::unique_ptr<EmbeddingTables> tables)
      : spec_(spec),
        shape_(shape),
        tables_(std::move(tables)),
        bags_(*tables_),
        network_(spec, shape),
        next_id_(static_cast<std::size_t>(network_.threads())) {}

  bool learns() const override { return true; }
  void prefetch(std::shared_ptr<const Batch> batch) override {
    tables_->prefetch(std::move(batch));
  }

  Result<double> step(const Batch& batch) override {
    if (auto status = check_batch(batch, shape_); !status) return pass(status);
    auto rows = tables_->begin(batch);
    if (!rows) return pass(rows);
    bool finite = true;
    auto loss = guard_torch([&] {
      const c10::InferenceMode no_autograd;
      const double mean = 1 / static_cast<double>(batch.rows);
      pool_repeated(batch, **rows);
      const double sum = network_.train(batch, shares_of(**rows), mean, put_of(batch, **rows));
      if (std::isfinite(sum)) finite = update(batch, **rows);
      return sum * mean;
    });
    if (loss && !std::isfinite(*loss)) {
      loss = tl::unexpected<Error>(name_row(batch, **rows, *loss));
    }
    if (!finite) loss = tl::unexpected<Error>(bad_update({batch}, shape_));
    tables_->end();
    return loss;
  }

  LookupCounts lookups() const override { return tables_->lookups(); }
  std::vector<TableTiers> tiers() const override { return tables_->tiers(); }

  Status predict(const Batch& batch, std::span<float> scores) override {
    FOREBAY_CHECK(scores.size() == batch.rows);
    if (auto status = check_batch(batch, shape_); !status) return status;
    auto rows = tables_->begin(batch, EmbeddingTables::Use::kScore);
    if (!rows) return pass(rows);
    auto scored = guard_torch([&] {
      pool_repeated(batch, **rows);
      network_.score(batch, shares_of(**rows), put_of(batch, **rows), scores);
    });
    tables_->end();
    return scored;
  }

  void set_threads(int threads) override { network_.set_threads(threads); }
  std::optional<double> learning_rate() const override { return rate_; }
  Result<std::unique_ptr<StateSource>> snapshot() override {
    return tables_->snapshot(dense_state());
  }
  Status restore(StateSource& from) override { return tables_->restore(from, dense_state()); }

 private:
  static Shares shares_of(const BatchRows& rows) { return {rows.share_rows, rows.shares}; }

  void pool_repeated(const Batch& batch, const BatchRows& rows) {
    const std::size_t tasks = bags_.begin(batch, rows);
    for_each_task(network_.threads(), tasks, [&](std::size_t task, int) { bags_.pool(task); });
  }

  void put(const Batch& batch, const BatchRows& rows, const Group& group,
           const VectorLocations& to) {
    std::vector<std::size_t>& next_id = next_id_[static_cast<std::size_t>(group.thread)];
    next_id.resize(batch.sparse_features);
    for (std::size_t feature = 0; feature < tables_->features(); ++feature) {
      if (bags_.has(feature)) {
        bags_.copy(feature, group.first, group.rows, to.at(feature, 0), to.row_stride);
        continue;
      }
      if (group.is_first) next_id[feature] = rows.share_starts[feature * rows.shares + group.share];
      const std::int32_t* lengths = batch.lengths + feature * batch.rows + group.first;
      next_id[feature] += tables_->pool(feature, rows, next_id[feature], {lengths, group.rows},
                                        to.at(feature, 0), to.row_stride);
    }
  }

  DenseNetwork::Put put_of(const Batch& batch, const BatchRows& rows) {
    return [&](const Group& group, const VectorLocations& to) { put(batch, rows, group, to); };
  }

  void add_up(std::size_t table, const Batch& batch, const BatchRows& rows,
              const float* gradients) {
    if (bags_.has(table)) return bags_.add_up(table, batch.rows, gradients, *tables_);
    tables_->add_up(table, batch, rows, gradients);
  }

  /// The parts of an update are the tables, then the blocks of the network. Returns whether all
  /// that was updated is finite.
  bool update(const Batch& batch, const BatchRows& rows) {
    rate_ = learning_rate_at(spec_, batch.number);
    network_.begin_step(*rate_);
    const std::size_t tables = tables_->features();
    const std::size_t parts = tables + network_.blocks();
    const auto sums_of = [&](std::size_t part) {
      return part < tables ? tables_->sums(part) : network_.sums(part - tables);
    };
    std::atomic<bool> finite = true;
    const auto apply = [&](std::size_t part) {
      const bool good = part >= tables ? network_.update(part - tables)
                                       : tables_->apply(part, rows, static_cast<float>(*rate_));
      if (!good) finite = false;
    };
    const bool clips = spec_.clip_norm > 0;
    std::vector<double> squares(parts);
    const std::size_t floats = batch.rows * shape_.row_width();
    for_each_task(network_.threads(), parts, [&](std::size_t part, int) {
      if (part < tables) {
        add_up(part, batch, rows, network_.pooled_gradients() + part * floats);
      } else {
        network_.add_up(part - tables, shares_of(rows));
      }
      if (clips) {
        squares[part] = sum_of_squares(sums_of(part));
      } else {
        apply(part);
      }
    });
    if (!clips) return finite;
    const double norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
    cut_and_apply(network_.threads(), parts, clip_factor(norm, spec_.clip_norm), sums_of, apply);
    return finite;
  }

  /// Weights are not updated yet, so scoring again reproduces the loss.
  Error name_row(const Batch& batch, const BatchRows& rows, double loss) {
    std::vector<float> logits(batch.rows);
    auto scored =
        guard_torch([&] { network_.score(batch, shares_of(rows), put_of(batch, rows), logits); });
    if (!scored) return scored.error();
    return bad_loss({.batch = batch,
                     .loss = loss,
                     .logits = logits,
                     .bad_vector = [&](std::size_t row) { return bad_vector(batch, rows, row); }},
                    shape_);
  }

  /// The first feature whose vector for a row is not finite; the number of features if all are
  /// finite.
  std::size_t bad_vector(const Batch& batch, const BatchRows& rows, std::size_t row) const {
    std::vector<float> vector(shape_.row_width());
    for (std::size_t feature = 0; feature < tables_->features(); ++feature) {
      const std::span lengths(batch.lengths + feature * batch.rows, batch.rows);
      if (bags_.has(feature)) {
        bags_.copy(feature, row, 1, vector.data(), vector.size());
        if (!are_finite(vector)) return feature;
        continue;
      }
      const std::size_t before =
          std::accumulate(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(row),
                          rows.first_id[feature]);
      tables_->pool(feature, rows, before, lengths.subspan(row, 1), vector.data(), vector.size());
      if (!are_finite(vector)) return feature;
    }
    return tables_->features();
  }

  std::vector<MemoryTensor> dense_state() {
    std::vector<MemoryTensor> tensors;
    network_.append_to(tensors);
    return tensors;
  }

  const TrainerSpec spec_;
  const ModelShape shape_;
  std::optional<double> rate_;  // Of the last step.
  const std::unique_ptr<EmbeddingTables> tables_;
  RepeatedBags bags_;
  DenseNetwork network_;
  std::vector<std::vector<std::size_t>> next_id_;  // Per thread and feature, within a share.
};

}  // namespace

Result<std::unique_ptr<Model>> make_cpu_model(const TrainerSpec& spec, const ModelShape& shape,
                                              Collective* ranks) {
  if (spec.precision == TrainerSpec::Precision::kBf16 && !multiplies_bf16()) {
    return fail(Code::kInvalid,
                "trainer.precision = \"bf16\" needs AVX-512 and a libtorch with oneDNN, which this "
                "machine lacks; leave it out");
  }
  if (ranks != nullptr) return make_ranked_model(spec, shape, *ranks);
  auto tables = EmbeddingTables::make(spec, shape);
  if (!tables) return pass(tables);
  return guard_torch([&]() -> std::unique_ptr<Model> {
    return std::make_unique<CpuModel>(spec, shape, std::move(*tables));
  });
}

}  // namespace forebay
