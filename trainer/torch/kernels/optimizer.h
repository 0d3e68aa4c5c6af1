#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/embedding/pages.h"
#include "trainer/spec.h"
#include "trainer/state/snapshot.h"
#include "trainer/torch/kernels/clones.h"
#include "trainer/torch/kernels/finite_values.h"

namespace forebay {

/// How a weight is updated by its gradient.
struct UpdateRule {
  TrainerSpec::Optimizer optimizer = TrainerSpec::Optimizer::kSgd;
  float learning_rate = 0;
};

/// Adagrad (Duchi et al. 2011) as in PyTorch: each weight has the sum of its squared gradients.
inline constexpr float kAdagradEpsilon = 1e-10f;

/// Adam's (Kingma and Ba 2015) usual values.
inline constexpr double kAdamBeta1 = 0.9;
inline constexpr double kAdamBeta2 = 0.999;
inline constexpr float kAdamEpsilon = 1e-8f;

/// Updates `count` weights; `sums` is Adagrad's state and is not read with SGD. Shows `finite` the
/// values that would not be finite first: Adagrad's sums, without them the weights.
FOREBAY_INLINE void update_weights(const UpdateRule& rule, const float* gradient, float* weights,
                                   float* sums, std::size_t count, FiniteValues& finite) {
  if (rule.optimizer == TrainerSpec::Optimizer::kSgd) {
    for (std::size_t i = 0; i < count; ++i) weights[i] -= rule.learning_rate * gradient[i];
    return finite.see(weights, count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += gradient[i] * gradient[i];
    weights[i] -= rule.learning_rate * gradient[i] / (std::sqrt(sums[i]) + kAdagradEpsilon);
  }
  finite.see(sums, count);
}

/// Adam's count of steps, "steps", as a tensor of a model's state.
MemoryTensor count_in_memory(std::int64_t& steps);

/// The optimizer of a network's parameters: SGD, Adagrad (Duchi et al. 2011) or Adam (Kingma and Ba
/// 2015), each as in PyTorch.
///
/// Owns the optimizer's state. Disjoint ranges of one step may be updated by different threads.
class DenseOptimizer {
 public:
  DenseOptimizer(TrainerSpec::Optimizer optimizer, std::size_t parameters);

  /// Sets the learning rate of the next step.
  void begin_step(double learning_rate);

  /// Updates `weights`, the parameters from `first` on. Returns whether all of them and their state
  /// are finite.
  bool update(std::size_t first, std::span<const float> gradient, float* weights);

  /// The state of each parameter: "" for Adagrad's sums, ".m" and ".v" for Adam's means.
  struct Moment {
    const char* suffix;
    float* values;
  };
  std::vector<Moment> moments() const;
  /// Appends Adam's count of steps; appends nothing for the others.
  void append_count(std::vector<MemoryTensor>& tensors) {
    if (optimizer_ == TrainerSpec::Optimizer::kAdam) tensors.push_back(count_in_memory(steps_));
  }

 private:
  const TrainerSpec::Optimizer optimizer_;
  Pages first_, second_;  // Adagrad's sums; Adam's means of gradients and of their squares.
  std::int64_t steps_ = 0;
  float rate_ = 0;
  float correction_ = 1;  // Adam's, for the root of the second moment.
};

/// Adds the `rest` to `sum`, in order.
void add_shares(std::span<float> sum, std::span<const float* const> rest);

/// In double precision, in order.
double sum_of_squares(std::span<const float> values);

void scale(std::span<float> values, float factor);

/// The factor for gradients of this L2 norm such that it becomes at most `most` (0: no limit), as
/// in PyTorch's clip_grad_norm_.
float clip_factor(double norm, double most);

}  // namespace forebay
