#include "trainer/torch/kernels/optimizer.h"

#include <algorithm>

namespace forebay {
namespace {

/// Takes a copy of the rule, which no weight can overlap, so that the loops are vectorised.
FOREBAY_CLONES bool update_block(const UpdateRule rule, std::span<const float> gradient,
                                 float* weights, float* sums) {
  FiniteValues finite;
  update_weights(rule, gradient.data(), weights, sums, gradient.size(), finite);
  return finite.all();
}

/// `rate` includes the first mean's correction; `correction` is the root of the second's.
FOREBAY_CLONES bool adam(float rate, float correction, std::span<const float> gradient,
                         float* weights, float* means, float* squares) {
  constexpr auto kKeep1 = static_cast<float>(kAdamBeta1);
  constexpr auto kTake1 = static_cast<float>(1 - kAdamBeta1);
  constexpr auto kKeep2 = static_cast<float>(kAdamBeta2);
  constexpr auto kTake2 = static_cast<float>(1 - kAdamBeta2);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    means[i] = kKeep1 * means[i] + kTake1 * gradient[i];
    squares[i] = kKeep2 * squares[i] + kTake2 * gradient[i] * gradient[i];
    weights[i] -= rate * means[i] / (std::sqrt(squares[i]) / correction + kAdamEpsilon);
  }
  FiniteValues finite;
  finite.see(squares, gradient.size());
  return finite.all();
}

FOREBAY_CLONES void add_to(std::span<float> sum, const float* values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

std::size_t bytes_if(bool wanted, std::size_t parameters) {
  return wanted ? parameters * sizeof(float) : 0;
}

}  // namespace

DenseOptimizer::DenseOptimizer(TrainerSpec::Optimizer optimizer, std::size_t parameters)
    : optimizer_(optimizer),
      first_(bytes_if(optimizer != TrainerSpec::Optimizer::kSgd, parameters)),
      second_(bytes_if(optimizer == TrainerSpec::Optimizer::kAdam, parameters)) {}

void DenseOptimizer::begin_step(double learning_rate) {
  ++steps_;
  rate_ = static_cast<float>(learning_rate);
  if (optimizer_ != TrainerSpec::Optimizer::kAdam) return;
  const auto steps = static_cast<double>(steps_);
  rate_ = static_cast<float>(learning_rate / (1 - std::pow(kAdamBeta1, steps)));
  correction_ = static_cast<float>(std::sqrt(1 - std::pow(kAdamBeta2, steps)));
}

bool DenseOptimizer::update(std::size_t first, std::span<const float> gradient, float* weights) {
  float* sums = optimizer_ == TrainerSpec::Optimizer::kSgd ? nullptr : first_.as<float>() + first;
  if (optimizer_ != TrainerSpec::Optimizer::kAdam) {
    return update_block({optimizer_, rate_}, gradient, weights, sums);
  }
  return adam(rate_, correction_, gradient, weights, sums, second_.as<float>() + first);
}

std::vector<DenseOptimizer::Moment> DenseOptimizer::moments() const {
  switch (optimizer_) {
    case TrainerSpec::Optimizer::kSgd:
      return {};
    case TrainerSpec::Optimizer::kAdagrad:
      return {{"", first_.as<float>()}};
    case TrainerSpec::Optimizer::kAdam:
      return {{".m", first_.as<float>()}, {".v", second_.as<float>()}};
  }
  return {};
}

MemoryTensor count_in_memory(std::int64_t& steps) {
  StateTensor tensor{.name = "steps",
                     .part = StateTensor::Part::kOptimizer,
                     .type = ElementType::kI64,
                     .shape = {1}};
  return {std::move(tensor), std::as_writable_bytes(std::span(&steps, 1))};
}

void add_shares(std::span<float> sum, std::span<const float* const> rest) {
  for (const float* values : rest) add_to(sum, values);
}

double sum_of_squares(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * value;
  return sum;
}

void scale(std::span<float> values, float factor) {
  for (float& value : values) value *= factor;
}

float clip_factor(double norm, double most) {
  if (most <= 0) return 1;
  return static_cast<float>(std::min(1.0, most / (norm + 1e-6)));
}

}  // namespace forebay
