#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/embedding/pages.h"
#include "trainer/memory_source.h"
#include "trainer/spec.h"

namespace forebay {

/// The optimizer of a network's parameters: SGD, Adagrad (Duchi et al. 2011) or Adam (Kingma and Ba
/// 2015), each as in PyTorch.
///
/// Owns the optimizer's state. Disjoint ranges of one step may be updated by different threads.
class DenseOptimizer {
 public:
  DenseOptimizer(TrainerSpec::Optimizer optimizer, std::size_t parameters);

  /// Sets the learning rate of the next step.
  void begin_step(double learning_rate);

  /// Updates `weights`, the parameters from `first` on.
  void update(std::size_t first, std::span<const float> gradient, float* weights);

  /// The state of each parameter: "" for Adagrad's sums, ".m" and ".v" for Adam's means.
  struct Moment {
    const char* suffix;
    float* values;
  };
  std::vector<Moment> moments() const;
  /// Adam's count of steps, "steps"; appends nothing for the others.
  void append_count(std::vector<MemoryTensor>& tensors);

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
