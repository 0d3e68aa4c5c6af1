#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/embedding/pages.h"
#include "trainer/memory_source.h"
#include "trainer/spec.h"

namespace forebay {

/// How a network's parameters follow their gradients: SGD, Adagrad (Duchi et al. 2011) or Adam
/// (Kingma and Ba 2015), each as PyTorch has it.
///
/// Owns the optimizer's state. Disjoint ranges of one step may be updated by different threads.
class DenseOptimizer {
 public:
  DenseOptimizer(TrainerSpec::Optimizer optimizer, std::size_t parameters);

  /// The next step is taken with this learning rate.
  void begin_step(double learning_rate);

  /// Changes `weights`, which are the parameters from `first` on.
  void update(std::size_t first, std::span<const float> gradient, float* weights);

  /// What is kept for each parameter: "" of Adagrad's sums, ".m" and ".v" of Adam's means.
  struct Moment {
    const char* suffix;
    float* values;
  };
  std::vector<Moment> moments() const;
  /// Adam's count of steps, "steps"; nothing for the others.
  void append_count(std::vector<MemoryTensor>& tensors);

 private:
  const TrainerSpec::Optimizer optimizer_;
  Pages first_, second_;  // Adagrad's sums; Adam's means of gradients and of their squares.
  std::int64_t steps_ = 0;
  float rate_ = 0;
  float correction_ = 1;  // Adam's, of the second moment's root.
};

/// Adds the `rest` to `sum`, in their order.
void add_shares(std::span<float> sum, std::span<const float* const> rest);

/// In double precision, in their order.
double sum_of_squares(std::span<const float> values);

void scale(std::span<float> values, float factor);

/// What gradients of this L2 norm are multiplied with so that it is at most `most` (0: anything),
/// as PyTorch's clip_grad_norm_ has it.
float clip_factor(double norm, double most);

}  // namespace forebay
