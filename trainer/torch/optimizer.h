#pragma once

#include <cmath>
#include <cstddef>

#include "trainer/spec.h"
#include "trainer/torch/clones.h"

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

/// Updates `count` weights; `sums` is Adagrad's state and is not read with SGD.
FOREBAY_INLINE void update_weights(const UpdateRule& rule, const float* gradient, float* weights,
                                   float* sums, std::size_t count) {
  if (rule.optimizer == TrainerSpec::Optimizer::kSgd) {
    for (std::size_t i = 0; i < count; ++i) weights[i] -= rule.learning_rate * gradient[i];
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += gradient[i] * gradient[i];
    weights[i] -= rule.learning_rate * gradient[i] / (std::sqrt(sums[i]) + kAdagradEpsilon);
  }
}

}  // namespace forebay
