#include <cstring>
#include <utility>

#include <ATen/ops/cat.h>

#include "trainer/torch/network/network.h"

namespace forebay {
namespace {

/// A bottom MLP over the dense values, cross layers over its output and the pooled vectors, a top
/// MLP over their output (MLPerf's DLRM-DCNv2; Wang et al. 2021).
class Dcn final : public Network {
 public:
  explicit Dcn(const ModelShape& shape)
      : Network(shape),
        dim_(static_cast<std::size_t>(shape.embedding_dim)),
        bottom_("bottom", shape.bottom_mlp, Mlp::Last::kRelu),
        cross_(shape),
        top_("top", shape.top_mlp, Mlp::Last::kLinear) {}

  std::unique_ptr<GroupWorker> make_worker(Parameters weights) const override;

  at::Tensor record(Parameters weights, const at::Tensor& dense,
                    const at::Tensor& vectors) const override {
    const Split own = split(weights);
    const at::Tensor bottom = bottom_.record(own.bottom, dense);
    const at::Tensor crossed = cross_.record(own.cross, at::cat({bottom, vectors.flatten(1)}, 1));
    return top_.record(own.top, crossed).squeeze(1);
  }

  std::vector<std::string> script() const override {
    std::vector<std::string> lines = {"bottom = " + bottom_.script("dense"),
                                      "x = torch.cat([bottom, vectors.flatten(1)], 1)"};
    for (std::string& line : cross_.script()) lines.push_back(std::move(line));
    lines.push_back("return " + top_.script("x") + ".squeeze(1)");
    return lines;
  }

 private:
  class Worker;

  struct Split {
    Parameters bottom, cross, top;
  };
  Split split(Parameters all) const {
    const Parameters rest = all.subspan(bottom_.tensors());
    return {all.first(bottom_.tensors()), rest.first(cross_.tensors()),
            rest.subspan(cross_.tensors())};
  }

  const std::size_t dim_;
  const Mlp bottom_;
  const CrossLayers cross_;
  const Mlp top_;
};

class Dcn::Worker final : public GroupWorker {
 public:
  Worker(const Dcn& network, Parameters weights)
      : GroupWorker(network.top_, network.split(weights).top),
        network_(network),
        weights_(network.split(weights)),
        bottom_all_(network.bottom_.make_activations(weights_.bottom, kModelGroupRows)),
        cross_all_(network.cross_.make_activations(weights_.cross, kModelGroupRows)) {}

  VectorLocations begin(std::size_t rows) override {
    if (resize(rows)) {
      bottom_now_ = Mlp::first_rows(bottom_all_, rows);
      cross_now_ = CrossLayers::first_rows(cross_all_, rows);
    }
    const std::size_t dim = network_.dim_;
    return {cross_now_.inputs.front().data_ptr<float>() + dim, dim, width()};
  }

  std::span<const float> forward(const at::Tensor& dense) override {
    network_.bottom_.forward(weights_.bottom, dense, bottom_now_);
    copy_columns(bottom_now_.output, cross_now_.inputs.front());
    network_.cross_.forward(weights_.cross, cross_now_);
    network_.top_.forward(weights_.top, cross_now_.inputs.back(), last_now_);
    return logits();
  }

  void backward(const at::Tensor& dense, GradientSums sums,
                const VectorLocations& vectors) override {
    const Split own = network_.split(sums.tensors);
    network_.top_.backward(weights_.top, cross_now_.inputs.back(), last_now_,
                           {own.top, sums.are_empty}, &cross_now_.gradient);
    network_.cross_.backward(weights_.cross, cross_now_, {own.cross, sums.are_empty});
    const std::size_t dim = network_.dim_;
    const float* gradient = cross_now_.gradient.data_ptr<float>();
    auto* bottom = bottom_now_.gradient.data_ptr<float>();
    for (std::size_t row = 0; row < rows_; ++row, gradient += width()) {
      std::memcpy(bottom + row * dim, gradient, dim * sizeof(float));
      for (std::size_t feature = 0; (feature + 1) * dim < width(); ++feature) {
        std::memcpy(vectors.at(feature, row), gradient + (feature + 1) * dim, dim * sizeof(float));
      }
    }
    network_.bottom_.backward(weights_.bottom, dense, bottom_now_, {own.bottom, sums.are_empty},
                              nullptr);
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(cross_all_.gradient.size(1)); }

  /// Writes `from` into the first columns of `to`.
  void copy_columns(const at::Tensor& from, const at::Tensor& to) const {
    const std::size_t dim = network_.dim_;
    const float* values = from.data_ptr<float>();
    auto* out = to.data_ptr<float>();
    for (std::size_t row = 0; row < rows_; ++row) {
      std::memcpy(out + row * width(), values + row * dim, dim * sizeof(float));
    }
  }

  const Dcn& network_;
  const Split weights_;
  Mlp::Activations bottom_all_;
  CrossLayers::Activations cross_all_;
  Mlp::Activations bottom_now_;  // The first `rows_` rows of each.
  CrossLayers::Activations cross_now_;
};

std::unique_ptr<GroupWorker> Dcn::make_worker(Parameters weights) const {
  return std::make_unique<Worker>(*this, weights);
}

}  // namespace

std::unique_ptr<Network> make_dcn(const ModelShape& shape) { return std::make_unique<Dcn>(shape); }

}  // namespace forebay
