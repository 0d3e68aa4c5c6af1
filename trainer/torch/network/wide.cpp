#include <cstring>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mv.h>

#include "trainer/embedding/pages.h"
#include "trainer/torch/kernels/factorisation.h"
#include "trainer/torch/network/network.h"

namespace forebay {
namespace {

/// A linear part over dense values and ids, and an MLP over dense values and pooled vectors
/// (Cheng et al. 2016); DeepFM (Guo et al. 2017) adds the dot products of all pairs of vectors.
/// An id's linear weight is the last value of its row. Linear weights start at 0.
class Wide final : public Network {
 public:
  explicit Wide(const ModelShape& shape)
      : Network(shape),
        dense_(shape.bottom_input()),
        pairs_(shape.network == TrainerSpec::ModelKind::kDeepFm),
        vectors_{shape.table_rows.size(), static_cast<std::size_t>(shape.embedding_dim),
                 shape.row_width()},
        deep_("deep", shape.top_mlp, Mlp::Last::kLinear) {}

  std::unique_ptr<GroupWorker> make_worker(Parameters weights) const override;

  at::Tensor record(Parameters weights, const at::Tensor& dense,
                    const at::Tensor& rows) const override {
    const auto dim = static_cast<std::int64_t>(vectors_.dim);
    const at::Tensor vectors = rows.narrow(2, 0, dim);
    const at::Tensor deep =
        deep_.record(weights.subspan(1), at::cat({dense, vectors.flatten(1)}, 1));
    const at::Tensor wide = at::mv(dense, weights[0]) + rows.select(2, dim).sum(1);
    if (!pairs_) return deep.squeeze(1) + wide;
    const at::Tensor sums = vectors.sum(1);
    const at::Tensor twice = (sums * sums).sum(1) - (vectors * vectors).sum(at::IntArrayRef{1, 2});
    return deep.squeeze(1) + wide + twice / 2;
  }

  std::vector<std::string> script() const override {
    const std::string dim = std::to_string(vectors_.dim);
    std::vector<std::string> lines = {
        "own = vectors.narrow(2, 0, " + dim + ")", "x = torch.cat([dense, own.flatten(1)], 1)",
        "x = " + deep_.script("x") + ".squeeze(1)",
        "x = x + torch.mv(dense, self.wide_weight) + vectors.select(2, " + dim + ").sum(1)"};
    if (pairs_) {
      lines.emplace_back("sums = own.sum(1)");
      lines.emplace_back("x = x + ((sums * sums).sum(1) - (own * own).sum([1, 2])) / 2");
    }
    lines.emplace_back("return x");
    return lines;
  }

 private:
  class Worker;

  const std::size_t dense_;
  const bool pairs_;
  const Factorisation vectors_;
  const Mlp deep_;
};

class Wide::Worker final : public GroupWorker {
 public:
  Worker(const Wide& network, Parameters weights)
      : GroupWorker(network.deep_, weights.subspan(1)),
        network_(network),
        shape_(network.vectors_),
        weights_(weights),
        row_(shape_.vectors * shape_.stride),
        rows_all_(kModelGroupRows * row_ * sizeof(float)) {
    const std::int64_t extents[] = {
        static_cast<std::int64_t>(kModelGroupRows),
        static_cast<std::int64_t>(network.dense_ + shape_.vectors * shape_.dim)};
    input_all_ = at::empty(extents, at::kFloat);
    input_gradient_all_ = at::empty(extents, at::kFloat);
  }

  VectorLocations begin(std::size_t rows) override {
    if (resize(rows)) {
      const auto count = static_cast<std::int64_t>(rows);
      input_ = input_all_.narrow(0, 0, count);
      input_gradient_ = input_gradient_all_.narrow(0, 0, count);
    }
    return {rows_all_.as<float>(), shape_.stride, row_};
  }

  std::span<const float> forward(const at::Tensor& dense) override {
    fill_input(dense);
    network_.deep_.forward(weights_.subspan(1), input_, last_now_);
    float* logits = this->logits().data();
    const float* numbers = dense.data_ptr<float>();
    const float* wide = weights_[0].data_ptr<float>();
    const float* row = rows_all_.as<float>();
    for (std::size_t r = 0; r < rows_; ++r, numbers += network_.dense_, row += row_) {
      float sum = 0;
      for (std::size_t i = 0; i < network_.dense_; ++i) sum += numbers[i] * wide[i];
      for (std::size_t v = 0; v < shape_.vectors; ++v) sum += row[v * shape_.stride + shape_.dim];
      logits[r] += sum;
    }
    if (network_.pairs_) shape_.forward(rows_all_.as<float>(), rows_, logits);
    return {logits, rows_};
  }

  void backward(const at::Tensor& dense, GradientSums sums,
                const VectorLocations& vectors) override {
    network_.deep_.backward(weights_.subspan(1), input_, last_now_, sums.from(1), &input_gradient_);
    const float* logit = last_now_.gradient.data_ptr<float>();
    const float* numbers = dense.data_ptr<float>();
    if (sums.are_empty) sums.tensors[0].zero_();
    auto* wide = sums.tensors[0].data_ptr<float>();
    const float* gradient = input_gradient_.data_ptr<float>() + network_.dense_;
    const std::size_t width = network_.dense_ + shape_.vectors * shape_.dim;
    for (std::size_t r = 0; r < rows_; ++r, numbers += network_.dense_, gradient += width) {
      for (std::size_t i = 0; i < network_.dense_; ++i) wide[i] += logit[r] * numbers[i];
      for (std::size_t v = 0; v < shape_.vectors; ++v) {
        float* out = vectors.at(v, r);
        std::memcpy(out, gradient + v * shape_.dim, shape_.dim * sizeof(float));
        out[shape_.dim] = logit[r];
      }
    }
    if (network_.pairs_) {
      shape_.backward(rows_all_.as<float>(), logit, rows_, vectors.data, vectors.feature_stride);
    }
  }

 private:
  /// The deep part's input: a row's dense values, then its vectors without their last value.
  void fill_input(const at::Tensor& dense) {
    const float* numbers = dense.data_ptr<float>();
    const float* row = rows_all_.as<float>();
    auto* out = input_.data_ptr<float>();
    for (std::size_t r = 0; r < rows_; ++r, numbers += network_.dense_, row += row_) {
      std::memcpy(out, numbers, network_.dense_ * sizeof(float));
      out += network_.dense_;
      for (std::size_t v = 0; v < shape_.vectors; ++v, out += shape_.dim) {
        std::memcpy(out, row + v * shape_.stride, shape_.dim * sizeof(float));
      }
    }
  }

  const Wide& network_;
  const Factorisation shape_;
  const Parameters weights_;
  const std::size_t row_;                      // Values of a row's vectors.
  Pages rows_all_;                             // [rows, vectors, row_width]
  at::Tensor input_all_, input_gradient_all_;  // [rows, top_input]
  at::Tensor input_, input_gradient_;          // Their first `rows_` rows.
};

std::unique_ptr<GroupWorker> Wide::make_worker(Parameters weights) const {
  return std::make_unique<Worker>(*this, weights);
}

}  // namespace

std::unique_ptr<Network> make_wide(const ModelShape& shape) {
  return std::make_unique<Wide>(shape);
}

}  // namespace forebay
