#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include "core/base/check.h"
#include "trainer/evaluation.h"
#include "trainer/torch/batch_tensors.h"
#include "trainer/torch/embedding_tables.h"
#include "trainer/torch/interaction.h"
#include "trainer/torch/mlp.h"
#include "trainer/torch/models.h"
#include "trainer/torch/parallel.h"
#include "trainer/torch/torch_error.h"

namespace forebay {
namespace {

constexpr std::size_t kSumBlock = 4096;  // Weights of the MLPs updated as one task.

FOREBAY_CLONES void sum_and_update(const UpdateRule& rule, std::span<const float* const> gradients,
                                   float* weights, float* squares, std::size_t count) {
  float sum[kSumBlock];
  std::memcpy(sum, gradients[0], count * sizeof(float));
  for (const float* gradient : gradients.subspan(1)) {
    for (std::size_t i = 0; i < count; ++i) sum[i] += gradient[i];
  }
  update_weights(rule, sum, weights, squares, count);
}

/// Consecutive rows of a batch that one thread works on at a time.
struct Group {
  std::size_t first = 0;
  std::size_t rows = 0;
};

/// What one thread works with.
struct Workspace {
  Workspace(const Mlp& bottom, const Mlp& top, const Interaction& interaction)
      : bottom_all(bottom.make_activations(kModelGroupRows)),
        top_all(top.make_activations(kModelGroupRows)),
        vectors(kModelGroupRows * interaction.vectors * interaction.dim * sizeof(float)),
        features((kModelGroupRows * interaction.width() + Interaction::kSlack) * sizeof(float)),
        feature_gradients(kModelGroupRows * interaction.width() * sizeof(float)) {
    resize(kModelGroupRows, interaction.width());
  }

  void resize(std::size_t group_rows, std::size_t width) {
    if (rows == group_rows) return;
    rows = group_rows;
    bottom_now = Mlp::first_rows(bottom_all, rows);
    top_now = Mlp::first_rows(top_all, rows);
    const std::int64_t extent[] = {static_cast<std::int64_t>(rows),
                                   static_cast<std::int64_t>(width)};
    top_input = at::from_blob(features.as<float>(), extent, at::kFloat);
    top_input_gradient = at::from_blob(feature_gradients.as<float>(), extent, at::kFloat);
  }

  std::size_t rows = 0;
  Mlp::Activations bottom_all, top_all;  // Of a whole group,
  Mlp::Activations bottom_now, top_now;  // and of `rows` rows.
  Pages vectors;                         // [rows, vectors, dim]
  Pages features, feature_gradients;     // [rows, interaction.width()]
  at::Tensor top_input, top_input_gradient;
  std::vector<std::size_t> next_id;  // Per sparse feature, as the groups of a share go by.
};

class CpuDlrm final : public Model {
 public:
  CpuDlrm(const TrainerSpec& spec, const ModelShape& shape);

  bool learns() const override { return true; }
  Result<double> step(const Batch& batch) override;
  Status predict(const Batch& batch, std::span<float> scores) override;
  std::vector<StateTensor> state() override;
  void state_changed() override {}

 private:
  double train(const Batch& batch);
  void score(const Batch& batch, std::span<float> scores);
  void lay_out(const Batch& batch);
  /// Calls `work` for each group of the share.
  template <class Work>
  void for_each_group(const Batch& batch, std::size_t share, Workspace& space, const Work& work);
  void forward(const Batch& batch, const Group& group, Workspace& space);
  double take_loss(const Batch& batch, const Group& group, Workspace& space) const;
  void backward(const Batch& batch, const Group& group, std::size_t share, Workspace& space);
  void update_mlps(std::size_t shares);
  at::Tensor bottom_input(const Batch& batch, const Group& group) const;

  const ModelShape shape_;
  const UpdateRule rule_;
  const int threads_;
  const Mlp bottom_;
  const Mlp top_;
  const Interaction interaction_;
  const std::size_t parameters_;  // Of both MLPs, the bottom's first.

  EmbeddingTables tables_;
  Pages weights_, squares_;  // [parameters_]
  Pages gradients_;          // [kModelShares, parameters_]
  Mlp::Layers bottom_layers_, top_layers_;
  std::vector<Mlp::Layers> bottom_sums_, top_sums_;  // Per share, views of gradients_.
  at::Tensor ones_;                                  // The bottom's input without dense features.

  std::vector<Workspace> spaces_;                    // Per thread.
  std::vector<EmbeddingTables::Scratch> scratches_;  // Per thread.
  Pages pooled_gradients_;                           // [sparse_features, rows, dim]
  IdLayout layout_;
  std::size_t share_rows_ = 0;
};

CpuDlrm::CpuDlrm(const TrainerSpec& spec, const ModelShape& shape)
    : shape_(shape),
      rule_{spec.optimizer, static_cast<float>(spec.learning_rate)},
      threads_(std::max(spec.threads, 1)),
      bottom_("bottom", shape.bottom_input(), shape.bottom_mlp, Mlp::Last::kRelu),
      top_("top", shape.top_input(), shape.top_mlp, Mlp::Last::kLinear),
      interaction_{shape.table_rows.size() + 1, static_cast<std::size_t>(shape.embedding_dim)},
      parameters_(bottom_.parameters() + top_.parameters()),
      tables_(shape, rule_, spec.seed),
      weights_(parameters_ * sizeof(float)),
      squares_(rule_.optimizer == TrainerSpec::Optimizer::kAdagrad ? parameters_ * sizeof(float)
                                                                   : 0),
      gradients_(kModelShares * parameters_ * sizeof(float)),
      ones_(at::ones({static_cast<std::int64_t>(kModelGroupRows), 1}, at::kFloat)) {
  auto* weights = weights_.as<float>();
  bottom_.initialise({weights, bottom_.parameters()}, Random(mix64(spec.seed, kBottomStream)));
  top_.initialise({weights + bottom_.parameters(), top_.parameters()},
                  Random(mix64(spec.seed, kTopStream)));
  bottom_layers_ = bottom_.layers_over(weights);
  top_layers_ = top_.layers_over(weights + bottom_.parameters());
  for (std::size_t share = 0; share < kModelShares; ++share) {
    float* gradients = gradients_.as<float>() + share * parameters_;
    bottom_sums_.push_back(bottom_.layers_over(gradients));
    top_sums_.push_back(top_.layers_over(gradients + bottom_.parameters()));
  }
  for (int thread = 0; thread < threads_; ++thread) {
    spaces_.emplace_back(bottom_, top_, interaction_);
    scratches_.push_back(tables_.make_scratch());
  }
}

Result<double> CpuDlrm::step(const Batch& batch) {
  return guard_torch([&] {
    const c10::InferenceMode no_autograd;
    return train(batch);
  });
}

Status CpuDlrm::predict(const Batch& batch, std::span<float> scores) {
  FOREBAY_CHECK(scores.size() == batch.rows);
  return guard_torch([&] {
    const c10::InferenceMode no_autograd;
    score(batch, scores);
  });
}

void CpuDlrm::lay_out(const Batch& batch) {
  FOREBAY_CHECK(batch.rows > 0 && batch.dense_features == shape_.dense_features);
  share_rows_ = (batch.rows + kModelShares - 1) / kModelShares;
  tables_.begin_layout(batch, share_rows_, layout_);
  for_each_task(threads_, static_cast<int>(tables_.features()), [&](int feature, int) {
    tables_.lay_out(batch, static_cast<std::size_t>(feature), share_rows_, layout_);
  });
}

double CpuDlrm::train(const Batch& batch) {
  lay_out(batch);
  const std::size_t pooled = tables_.features() * batch.rows * interaction_.dim * sizeof(float);
  if (pooled_gradients_.size() < pooled) pooled_gradients_ = Pages(pooled);

  std::vector<double> losses(layout_.shares);
  for_each_task(threads_, static_cast<int>(layout_.shares), [&](int task, int thread) {
    const c10::InferenceMode no_autograd;
    const auto share = static_cast<std::size_t>(task);
    Workspace& space = spaces_[static_cast<std::size_t>(thread)];
    std::memset(gradients_.as<float>() + share * parameters_, 0, parameters_ * sizeof(float));
    for_each_group(batch, share, space, [&](const Group& group) {
      losses[share] += take_loss(batch, group, space);
      backward(batch, group, share, space);
    });
  });
  for_each_task(threads_, static_cast<int>(tables_.features()), [&](int task, int thread) {
    const auto feature = static_cast<std::size_t>(task);
    const float* gradients =
        pooled_gradients_.as<float>() + feature * batch.rows * interaction_.dim;
    tables_.update(feature, batch, layout_, gradients,
                   scratches_[static_cast<std::size_t>(thread)]);
  });
  update_mlps(layout_.shares);

  double sum = 0;
  for (double loss : losses) sum += loss;
  return sum / static_cast<double>(batch.rows);
}

void CpuDlrm::score(const Batch& batch, std::span<float> scores) {
  lay_out(batch);
  for_each_task(threads_, static_cast<int>(layout_.shares), [&](int share, int thread) {
    const c10::InferenceMode no_autograd;
    Workspace& space = spaces_[static_cast<std::size_t>(thread)];
    for_each_group(batch, static_cast<std::size_t>(share), space, [&](const Group& group) {
      std::memcpy(scores.data() + group.first, space.top_now.outputs.back().data_ptr<float>(),
                  group.rows * sizeof(float));
    });
  });
}

template <class Work>
void CpuDlrm::for_each_group(const Batch& batch, std::size_t share, Workspace& space,
                             const Work& work) {
  space.next_id.resize(tables_.features());
  for (std::size_t feature = 0; feature < tables_.features(); ++feature) {
    space.next_id[feature] = layout_.share_starts[feature * layout_.shares + share];
  }
  const std::size_t end = std::min((share + 1) * share_rows_, batch.rows);
  for (std::size_t first = share * share_rows_; first < end; first += kModelGroupRows) {
    const Group group{first, std::min(kModelGroupRows, end - first)};
    space.resize(group.rows, interaction_.width());
    forward(batch, group, space);
    work(group);
  }
}

at::Tensor CpuDlrm::bottom_input(const Batch& batch, const Group& group) const {
  if (batch.dense_features == 0) return ones_.narrow(0, 0, static_cast<std::int64_t>(group.rows));
  return dense_tensor(batch, group.first, group.rows);
}

void CpuDlrm::forward(const Batch& batch, const Group& group, Workspace& space) {
  bottom_.forward(bottom_layers_, bottom_input(batch, group), space.bottom_now);
  const std::size_t dim = interaction_.dim;
  const std::size_t stride = interaction_.vectors * dim;
  auto* vectors = space.vectors.as<float>();
  const float* dense = space.bottom_now.outputs.back().data_ptr<float>();
  for (std::size_t row = 0; row < group.rows; ++row) {
    std::memcpy(vectors + row * stride, dense + row * dim, dim * sizeof(float));
  }
  for (std::size_t feature = 0; feature < tables_.features(); ++feature) {
    const std::int32_t* lengths = batch.lengths + feature * batch.rows + group.first;
    space.next_id[feature] += tables_.pool(feature, {lengths, group.rows},
                                           layout_.table_rows.data() + space.next_id[feature],
                                           vectors + (feature + 1) * dim, stride);
  }
  interaction_.forward(vectors, group.rows, space.features.as<float>());
  top_.forward(top_layers_, space.top_input, space.top_now);
}

/// The sum of the group's losses; leaves the gradient of the batch's mean loss with the logits.
double CpuDlrm::take_loss(const Batch& batch, const Group& group, Workspace& space) const {
  const float* logits = space.top_now.outputs.back().data_ptr<float>();
  auto* gradients = space.top_now.gradients.back().data_ptr<float>();
  const double scale = 1 / static_cast<double>(batch.rows);
  double sum = 0;
  for (std::size_t row = 0; row < group.rows; ++row) {
    const double logit = logits[row];
    const double label = batch.labels[group.first + row];
    sum += log_loss_of(logit, true) + (1 - label) * logit;
    gradients[row] = static_cast<float>((1 / (1 + std::exp(-logit)) - label) * scale);
  }
  return sum;
}

void CpuDlrm::backward(const Batch& batch, const Group& group, std::size_t share,
                       Workspace& space) {
  top_.backward(top_layers_, space.top_input, space.top_now, top_sums_[share],
                &space.top_input_gradient);
  const std::size_t dim = interaction_.dim;
  interaction_.backward(space.vectors.as<float>(), space.feature_gradients.as<float>(), group.rows,
                        space.bottom_now.gradients.back().data_ptr<float>(),
                        pooled_gradients_.as<float>() + group.first * dim, batch.rows * dim);
  bottom_.backward(bottom_layers_, bottom_input(batch, group), space.bottom_now,
                   bottom_sums_[share], nullptr);
}

void CpuDlrm::update_mlps(std::size_t shares) {
  const std::size_t blocks = (parameters_ + kSumBlock - 1) / kSumBlock;
  for_each_task(threads_, static_cast<int>(blocks), [&](int block, int) {
    const std::size_t first = static_cast<std::size_t>(block) * kSumBlock;
    std::vector<const float*> gradients;
    for (std::size_t share = 0; share < shares; ++share) {
      gradients.push_back(gradients_.as<float>() + share * parameters_ + first);
    }
    float* squares = squares_.size() == 0 ? nullptr : squares_.as<float>() + first;
    sum_and_update(rule_, gradients, weights_.as<float>() + first, squares,
                   std::min(kSumBlock, parameters_ - first));
  });
}

std::vector<StateTensor> CpuDlrm::state() {
  std::vector<StateTensor> tensors;
  const auto append = [&](float* values, StateTensor::Part part) {
    bottom_.append_state(values, part, tensors);
    top_.append_state(values + bottom_.parameters(), part, tensors);
  };
  append(weights_.as<float>(), StateTensor::Part::kWeights);
  if (squares_.size() > 0) append(squares_.as<float>(), StateTensor::Part::kOptimizer);
  tables_.append_state(tensors);
  return tensors;
}

}  // namespace

Result<std::unique_ptr<Model>> make_cpu_dlrm(const TrainerSpec& spec, const ModelShape& shape) {
  return guard_torch(
      [&]() -> std::unique_ptr<Model> { return std::make_unique<CpuDlrm>(spec, shape); });
}

}  // namespace forebay
