#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include "core/base/check.h"
#include "trainer/bad_loss.h"
#include "trainer/collective.h"
#include "trainer/evaluation.h"
#include "trainer/ranks/placement.h"
#include "trainer/schedule.h"
#include "trainer/torch/batch_tensors.h"
#include "trainer/torch/dense_optimizer.h"
#include "trainer/torch/embedding_tables.h"
#include "trainer/torch/models.h"
#include "trainer/torch/network.h"
#include "trainer/torch/optimizer.h"
#include "trainer/torch/parallel.h"
#include "trainer/torch/ranked_tables.h"
#include "trainer/torch/torch_error.h"

namespace forebay {
namespace {

constexpr std::size_t kBlock = 4096;  // Parameters of the network updated as one task.

/// Consecutive rows of a batch that one thread works on at a time.
struct Group {
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// The sum of the group's losses; writes the gradients of that sum, times `scale`.
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

/// What one thread works with.
struct Workspace {
  std::unique_ptr<GroupWorker> worker;
  std::vector<std::size_t> next_id;  // Per sparse feature, as the groups of a share go by.
};

/// Walks the groups of a batch's shares; what they do is the network's.
class CpuModel final : public Model {
 public:
  /// Of several ranks: who has which table, and those that every rank has (null: there are none).
  struct Together {
    Collective& ranks;
    TablePlacement placement;
    std::unique_ptr<EmbeddingTables> replicas;
  };

  /// Without `together` this model is trained alone.
  CpuModel(const TrainerSpec& spec, const ModelShape& shape,
           std::unique_ptr<EmbeddingTables> tables, std::optional<Together> together);

  bool learns() const override { return true; }
  void expect(std::shared_ptr<const Batch> batch) override {
    together_ ? together_->expect(batch) : tables_->expect(std::move(batch));
  }
  Result<double> step(const Batch& batch) override;
  LookupCounts lookups() const override { return together_ ? of_all_ : tables_->lookups(); }
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
  /// Forward and backward; the sum of the losses. Gradients are those of that sum, times `scale`.
  double pass_over(const Batch& batch, const BatchRows& rows, double scale);
  Result<double> step_together(const Batch& batch);
  Status predict_together(const Batch& batch, std::span<float> scores);
  void score(const Batch& batch, const BatchRows& rows, std::span<float> scores);
  Status check(const Batch& batch) const;
  Error name_row(const Batch& batch, const BatchRows& rows, double loss);
  /// A loss that is none: what the first rank says that had such a row.
  Error name_row_together(const Batch& batch, double loss, const std::string& at_fault);
  /// Calls `work` for each group of the share.
  template <class Work>
  void for_each_group(const Batch& batch, const BatchRows& rows, std::size_t share,
                      Workspace& space, const Work& work);
  std::span<const float> forward(const Batch& batch, const BatchRows& rows, const Group& group,
                                 Workspace& space);
  void update(const Batch& batch, const BatchRows& rows);
  /// Likewise with the gradients, and the loss, of all ranks.
  Status update_together(const Batch& batch, double& loss);
  /// Adds up the gradients of the network and has the ranks add theirs, a part after the other.
  std::vector<Collective::Handle> start_sums(double loss);
  /// What start_sums added up beside: the loss, and lookups.
  double take_sums();
  /// Cuts what was added up where its norm is too large, and applies it.
  void cut_and_apply(double norm, const BatchRows& rows);
  std::size_t tables() const { return together_ ? together_->tables() : tables_->features(); }
  std::size_t parts() const { return tables() + (parameters_ + kBlock - 1) / kBlock; }
  /// Adds up the gradients of one part of the update; the parts are this rank's tables, then blocks
  /// of the network's parameters.
  void gather(std::size_t part, const Batch& batch, const BatchRows& rows);
  /// What was added up.
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
  std::optional<RankedTables> together_;  // With ranks.
  BatchRows shares_;                      // Likewise: how this rank's rows are divided; no more.
  LookupCounts of_all_;                   // Likewise: of all ranks,
  LookupCounts told_;                     // and of this one, as far as it told the others.
};

CpuModel::CpuModel(const TrainerSpec& spec, const ModelShape& shape,
                   std::unique_ptr<EmbeddingTables> tables, std::optional<Together> together)
    : spec_(spec),
      shape_(shape),
      threads_(std::max(spec.threads, 1)),
      network_(make_network(shape)),
      width_(shape.row_width()),
      parameters_(size_of(network_->parameters())),
      tables_(std::move(tables)),
      optimizer_(spec.optimizer, parameters_),
      weights_(parameters_ * sizeof(float)),
      gradients_(kModelShares * parameters_ * sizeof(float)),
      ones_(at::ones({static_cast<std::int64_t>(kModelGroupRows), 1}, at::kFloat)),
      ranks_(together ? &together->ranks : nullptr) {
  auto* weights = weights_.as<float>();
  network_->initialise({weights, parameters_}, spec.seed);
  views_ = views_over(network_->parameters(), weights);
  for (std::size_t share = 0; share < kModelShares; ++share) {
    sums_.push_back(
        views_over(network_->parameters(), gradients_.as<float>() + share * parameters_));
  }
  for (int thread = 0; thread < threads_; ++thread) {
    spaces_.push_back({network_->make_worker(views_), {}});
  }
  if (together) {
    together_.emplace(together->ranks, shape, together->placement,
                      RankedTables::Parts{*tables_, std::move(together->replicas)}, spec.pooling);
  }
}

Status CpuModel::check(const Batch& batch) const {
  const bool rows = batch.rows > 0 || together_;
  if (rows && batch.dense_features == shape_.dense_features) return {};
  return fail(Code::kInvalid,
              "batch " + std::to_string(batch.number) + " has " + std::to_string(batch.rows) +
                  " rows of " + std::to_string(batch.dense_features) +
                  " dense features, the model takes " + std::to_string(shape_.dense_features));
}

Result<double> CpuModel::step(const Batch& batch) {
  if (auto status = check(batch); !status) return pass(status);
  if (together_) return step_together(batch);
  auto rows = tables_->begin(batch);
  if (!rows) return pass(rows);
  auto loss = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    const double mean = 1 / static_cast<double>(batch.rows);
    const double sum = pass_over(batch, **rows, mean);
    if (std::isfinite(sum)) update(batch, **rows);
    return sum * mean;
  });
  if (loss && !std::isfinite(*loss)) {
    loss = tl::unexpected<Error>(name_row(batch, **rows, *loss));
  }
  tables_->end();
  return loss;
}

/// The weights are those that gave the loss still.
Error CpuModel::name_row(const Batch& batch, const BatchRows& rows, double loss) {
  std::vector<float> logits(batch.rows);
  auto scored = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    score(batch, rows, logits);
  });
  if (!scored) return scored.error();
  return bad_loss(batch, loss, logits, together_ ? together_->first_row() : 0);
}

Error CpuModel::name_row_together(const Batch& batch, double loss, const std::string& at_fault) {
  auto said = all_gather(*ranks_, at_fault);
  if (!said) return said.error();
  for (std::string& each : *said) {
    if (!each.empty()) return {Code::kCorrupt, std::move(each)};
  }
  return bad_loss(batch, loss, {});
}

Result<double> CpuModel::step_together(const Batch& batch) {
  auto begun = together_->begin(batch, RankedTables::Use::kTrain, threads_);
  if (!begun) return pass(begun);
  shares_.share_rows = (together_->global_rows() + kModelShares - 1) / kModelShares;
  shares_.shares = (batch.rows + shares_.share_rows - 1) / shares_.share_rows;
  const double mean = 1 / static_cast<double>(together_->global_rows());
  Status updated;
  std::string at_fault;
  auto loss = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    double sum = pass_over(batch, shares_, mean);
    if (!std::isfinite(sum)) at_fault = name_row(batch, shares_, sum).message;
    updated = update_together(batch, sum);
    return sum * mean;
  });
  together_->end();
  if (!updated) return pass(updated);
  if (loss && !std::isfinite(*loss)) {
    return tl::unexpected<Error>(name_row_together(batch, *loss, at_fault));
  }
  return loss;
}

Status CpuModel::predict_together(const Batch& batch, std::span<float> scores) {
  auto begun = together_->begin(batch, RankedTables::Use::kScore, threads_);
  if (!begun) return begun;
  shares_.share_rows = (batch.rows + kModelShares - 1) / kModelShares;
  shares_.shares = batch.rows == 0 ? 0 : (batch.rows + shares_.share_rows - 1) / shares_.share_rows;
  auto scored = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    score(batch, shares_, scores);
  });
  together_->end();
  return scored;
}

Status CpuModel::predict(const Batch& batch, std::span<float> scores) {
  FOREBAY_CHECK(scores.size() == batch.rows);
  if (auto status = check(batch); !status) return status;
  if (together_) return predict_together(batch, scores);
  auto rows = tables_->begin_scoring(batch);
  if (!rows) return pass(rows);
  auto scored = guard_torch([&] {
    const c10::InferenceMode no_autograd;
    score(batch, **rows, scores);
  });
  tables_->end_scoring();
  return scored;
}

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
  for (std::size_t feature = 0; !together_ && feature < batch.sparse_features; ++feature) {
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
  const VectorPlaces vectors = space.worker->begin(group.rows);
  if (together_) together_->put(group.first, group.rows, vectors);
  for (std::size_t feature = 0; !together_ && feature < tables_->features(); ++feature) {
    const std::int32_t* lengths = batch.lengths + feature * batch.rows + group.first;
    space.next_id[feature] +=
        tables_->pool(feature, rows, space.next_id[feature], {lengths, group.rows},
                      vectors.at(feature, 0), vectors.row_stride);
  }
  return space.worker->forward(dense_input(batch, group));
}

std::span<float> CpuModel::sums_of(std::size_t part) {
  if (part < tables()) return together_ ? together_->sums(part) : tables_->sums(part);
  const std::size_t first = (part - tables()) * kBlock;
  return {gradients_.as<float>() + first, std::min(kBlock, parameters_ - first)};
}

void CpuModel::gather(std::size_t part, const Batch& batch, const BatchRows& rows) {
  const std::size_t features = tables();
  if (part < features && together_) return together_->add_up(part);
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
  if (part < features && together_) return together_->apply(part, rate);
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
      // Behind the sums lies a share that was added to them; the rest goes with the last of them.
      const LookupCounts now = together_->lookups();
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

// What the tables wait for goes first, while the network's gradients are added up; their sums are
// on their way while the tables are updated.
Status CpuModel::update_together(const Batch& batch, double& loss) {
  rate_ = learning_rate_at(spec_, batch.number);
  optimizer_.begin_step(*rate_);
  together_->start_gradients(pooled_gradients_.as<float>(), threads_);
  const std::vector<Collective::Handle> sums = start_sums(loss);
  if (auto came = together_->wait_gradients(); !came) return came;
  const bool clips = spec_.clip_norm > 0;
  std::vector<double> squares(parts());
  const std::size_t shards = together_->shards();
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
  if (auto summed = together_->wait_replicas(); !summed) return summed;
  for_each_task(threads_, static_cast<int>(parts() - shards), [&](int task, int) {
    const std::size_t part = shards + static_cast<std::size_t>(task);
    if (clips) {
      squares[part] = sum_of_squares(sums_of(part));
    } else {
      apply(part, shares_);
    }
  });
  if (!clips) return {};
  // What comes after the shards is the same on all ranks.
  const auto rest = squares.begin() + static_cast<std::ptrdiff_t>(shards);
  auto tables = sum_over_ranks(*ranks_, std::accumulate(squares.begin(), rest, 0.0));
  if (!tables) return pass(tables);
  cut_and_apply(std::sqrt(std::accumulate(rest, squares.end(), *tables)), shares_);
  return {};
}

std::vector<MemoryTensor> CpuModel::dense_state() {
  std::vector<MemoryTensor> tensors;
  append_state(network_->parameters(), weights_.as<float>(), StateTensor::Part::kWeights, tensors);
  for (const DenseOptimizer::Moment& moment : optimizer_.moments()) {
    append_state(network_->parameters(), moment.values, StateTensor::Part::kOptimizer, tensors,
                 moment.suffix);
  }
  optimizer_.append_count(tensors);
  if (together_) together_->append_to(tensors);
  return tensors;
}

}  // namespace

Result<std::unique_ptr<Model>> make_cpu_model(const TrainerSpec& spec, const ModelShape& shape,
                                              Collective* ranks) {
  ModelShape own = shape;
  TrainerSpec of_tables = spec;
  std::optional<CpuModel::Together> together;
  if (ranks != nullptr) {
    together.emplace(CpuModel::Together{*ranks, place_tables(spec, shape, ranks->size()), nullptr});
    own = shards_of(shape, together->placement, ranks->rank());
    if (!together->placement.replicated.empty()) {
      auto replicas =
          EmbeddingTables::make(spec_of_replicas(spec), replicas_of(shape, together->placement));
      if (!replicas) return pass(replicas);
      together->replicas = std::move(*replicas);
    }
    of_tables = spec_of_shards(spec, shape, together->placement, ranks->rank());
    // Whoever has a bag knows how long it is.
    of_tables.pooling = TrainerSpec::Pooling::kSum;
  }
  auto tables = EmbeddingTables::make(of_tables, own);
  if (!tables) return pass(tables);
  return guard_torch([&]() -> std::unique_ptr<Model> {
    return std::make_unique<CpuModel>(spec, shape, std::move(*tables), std::move(together));
  });
}

}  // namespace forebay
