#include <cstring>

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tril_indices.h>

#include "trainer/embedding/pages.h"
#include "trainer/torch/kernels/interaction.h"
#include "trainer/torch/libtorch.h"
#include "trainer/torch/network/network.h"

namespace forebay {
namespace {

/// A bottom MLP over the dense values, the dot products of all pairs of its output and the pooled
/// vectors, a top MLP over all of these (Naumov et al. 2019).
class Dlrm final : public Network {
 public:
  explicit Dlrm(const ModelShape& shape)
      : Network(shape),
        bottom_("bottom", shape.bottom_mlp, Mlp::Last::kRelu),
        top_("top", shape.top_mlp, Mlp::Last::kLinear),
        interaction_{shape.table_rows.size() + 1, static_cast<std::size_t>(shape.embedding_dim)} {}

  std::unique_ptr<GroupWorker> make_worker(Parameters weights) const override;

  at::Tensor record(Parameters weights, const at::Tensor& dense,
                    const at::Tensor& vectors) const override {
    const at::Tensor bottom = bottom_.record(weights.first(bottom_.tensors()), dense);
    const at::Tensor z = at::cat({bottom.unsqueeze(1), vectors}, 1);
    const at::Tensor pairs =
        at::tril_indices(z.size(1), z.size(1), -1, z.options().dtype(at::kLong));
    const at::Tensor places = pairs.select(0, 0) * z.size(1) + pairs.select(0, 1);
    const at::Tensor dots = at::bmm(z, z.transpose(1, 2)).flatten(1).index_select(1, places);
    return top_.record(weights.subspan(bottom_.tensors()), at::cat({bottom, dots}, 1)).squeeze(1);
  }

  std::vector<std::string> script() const override {
    const std::string vectors = std::to_string(interaction_.vectors);
    return {"bottom = " + bottom_.script("dense"),
            "z = torch.cat([bottom.unsqueeze(1), vectors], 1)",
            "pairs = torch.tril_indices(" + vectors + ", " + vectors + ", -1, device=z.device)",
            "dots = torch.bmm(z, z.transpose(1, 2)).flatten(1)",
            "dots = dots.index_select(1, pairs[0] * " + vectors + " + pairs[1])",
            "x = torch.cat([bottom, dots], 1)",
            "return " + top_.script("x") + ".squeeze(1)"};
  }

 private:
  const Mlp bottom_;
  const Mlp top_;
  const Interaction interaction_;
};

class DlrmWorker final : public GroupWorker {
 public:
  DlrmWorker(const Mlp& bottom, const Mlp& top, const Interaction& interaction, Parameters weights)
      : GroupWorker(top, weights.subspan(bottom.tensors())),
        bottom_(bottom),
        top_(top),
        interaction_(interaction),
        bottom_weights_(weights.first(bottom.tensors())),
        top_weights_(weights.subspan(bottom.tensors())),
        bottom_all_(bottom.make_activations(bottom_weights_, kModelGroupRows)),
        vectors_(kModelGroupRows * interaction.vectors * interaction.dim * sizeof(float)),
        features_((kModelGroupRows * interaction.width() + Interaction::kSlack) * sizeof(float)),
        feature_gradients_(kModelGroupRows * interaction.width() * sizeof(float)) {}

  VectorLocations begin(std::size_t rows) override {
    if (resize(rows)) make_views();
    return {vectors_.as<float>() + interaction_.dim, interaction_.dim,
            interaction_.vectors * interaction_.dim};
  }

  std::span<const float> forward(const at::Tensor& dense) override {
    bottom_.forward(bottom_weights_, dense, bottom_now_);
    const std::size_t dim = interaction_.dim;
    const std::size_t stride = interaction_.vectors * dim;
    const float* bottom = bottom_now_.output.data_ptr<float>();
    for (std::size_t row = 0; row < rows_; ++row) {
      std::memcpy(vectors_.as<float>() + row * stride, bottom + row * dim, dim * sizeof(float));
    }
    interaction_.forward(vectors_.as<float>(), rows_, features_.as<float>());
    top_.forward(top_weights_, top_input_, last_now_);
    return logits();
  }

  void backward(const at::Tensor& dense, GradientSums sums,
                const VectorLocations& vectors) override {
    top_.backward(top_weights_, top_input_, last_now_, sums.from(bottom_.tensors()),
                  &top_input_gradient_);
    interaction_.backward(vectors_.as<float>(), feature_gradients_.as<float>(), rows_,
                          bottom_now_.gradient.data_ptr<float>(), vectors.data,
                          vectors.feature_stride);
    bottom_.backward(bottom_weights_, dense, bottom_now_, sums.first(bottom_.tensors()), nullptr);
  }

 private:
  void make_views() {
    bottom_now_ = Mlp::first_rows(bottom_all_, rows_);
    const std::int64_t extents[] = {extent(rows_), extent(interaction_.width())};
    top_input_ = at::from_blob(features_.as<float>(), extents, at::kFloat);
    top_input_gradient_ = at::from_blob(feature_gradients_.as<float>(), extents, at::kFloat);
  }

  const Mlp& bottom_;
  const Mlp& top_;
  const Interaction interaction_;
  const Parameters bottom_weights_, top_weights_;
  Mlp::Activations bottom_all_;         // For a whole group.
  Mlp::Activations bottom_now_;         // For `rows_` rows.
  Pages vectors_;                       // [rows, vectors, dim]
  Pages features_, feature_gradients_;  // [rows, interaction.width()]
  at::Tensor top_input_, top_input_gradient_;
};

std::unique_ptr<GroupWorker> Dlrm::make_worker(Parameters weights) const {
  return std::make_unique<DlrmWorker>(bottom_, top_, interaction_, weights);
}

}  // namespace

std::unique_ptr<Network> make_dlrm(const ModelShape& shape) {
  return std::make_unique<Dlrm>(shape);
}

}  // namespace forebay
