#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>
#include <omp.h>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/embedding/pages.h"
#include "trainer/state/snapshot.h"
#include "trainer/torch/kernels/optimizer.h"
#include "trainer/torch/network/network.h"

namespace forebay {

/// The shares in which a batch is trained.
struct Shares {
  std::size_t rows = 0;    ///< Of each share but the last.
  std::size_t shares = 0;  ///< 0: the batch has no rows.

  /// Of `rows` rows that are part of a batch of `whole` rows, in kModelShares shares.
  static Shares of(std::size_t rows, std::size_t whole);
};

/// Consecutive rows of a share that one thread works on at a time.
struct Group {
  std::size_t share = 0;
  int thread = 0;
  std::size_t first = 0;  ///< Of the batch's rows.
  std::size_t rows = 0;
  bool is_first = false;  ///< Of its share.
};

/// The network of a model on the CPU: its weights, a batch's gradients by share, its optimizer.
///
/// Each share is one thread's at a time, and the shares' sums are added in one order, so results do
/// not depend on the threads. One thread calls it; update() of different blocks on any thread.
class DenseNetwork {
 public:
  DenseNetwork(const TrainerSpec& spec, const ModelShape& shape);

  /// At most the number that it was made for.
  void set_threads(int threads) {
    threads_ = std::clamp(threads, 1, static_cast<int>(workers_.size()));
  }
  int threads() const { return threads_; }

  /// Writes the pooled vectors of a group's rows; the groups of a share come in order. Any thread.
  using Put = std::function<void(const Group& group, const VectorLocations& to)>;

  /// Runs forward and backward; returns the sum of the losses. Gradients are of that sum, times
  /// `scale`. pooled_gradients() has those of the vectors afterwards.
  double train(const Batch& batch, const Shares& shares, double scale, const Put& put);
  void score(const Batch& batch, const Shares& shares, const Put& put, std::span<float> scores);
  /// [sparse_features, rows, row_width]
  float* pooled_gradients() const { return pooled_gradients_.as<float>(); }

  /// Sets the learning rate of the next update.
  void begin_step(double rate) { optimizer_.begin_step(rate); }
  /// The parameters are updated in blocks, which are independent of each other.
  std::size_t blocks() const { return (parameters_ + kBlock - 1) / kBlock; }
  /// Adds up a block's gradients over the shares.
  void add_up(std::size_t block, const Shares& shares);
  /// The sums of one block; those of all blocks are contiguous.
  std::span<float> sums(std::size_t block) {
    const std::size_t first = block * kBlock;
    return {gradients_.as<float>() + first, std::min(kBlock, parameters_ - first)};
  }
  /// Memory behind the sums, one value for each parameter: that of a share that was added up.
  float* behind_sums() const { return gradients_.as<float>() + parameters_; }
  /// Updates a block by its sums. Returns whether all of it, and its state, are finite.
  bool update(std::size_t block) {
    return optimizer_.update(block * kBlock, sums(block), weights_.as<float>() + block * kBlock);
  }

  /// Appends the parameters and the optimizer's state.
  void append_to(std::vector<MemoryTensor>& tensors);

 private:
  static constexpr std::size_t kBlock = 4096;  // Parameters.

  /// A view of weights_, and its copy in bfloat16.
  struct Rounded {
    at::Tensor exact, rounded;
  };

  void round_weights();
  template <class Work>
  void for_each_group(const Batch& batch, const Shares& shares, const Work& work);
  std::span<const float> forward(const Batch& batch, const Group& group, const Put& put);
  at::Tensor dense_input(const Batch& batch, const Group& group) const;
  GroupWorker& worker(const Group& group) {
    return *workers_[static_cast<std::size_t>(group.thread)];
  }

  int threads_;
  const std::unique_ptr<const Network> network_;
  const std::size_t row_width_;
  const std::size_t parameters_;
  DenseOptimizer optimizer_;
  Pages weights_;                                      // [parameters_]
  Pages gradients_;                                    // [kModelShares, parameters_]
  std::vector<at::Tensor> operands_;                   // Views of weights_, or copies in bfloat16.
  std::vector<Rounded> rounded_;                       // Of each copy.
  std::vector<std::vector<at::Tensor>> sums_;          // Per share, views of gradients_.
  at::Tensor ones_;                                    // The dense input of a model without one.
  std::vector<std::unique_ptr<GroupWorker>> workers_;  // Per thread.
  Pages pooled_gradients_;
};

/// Calls `work(task, thread)` for each task in [0, tasks), on at most `threads` threads numbered
/// from 0; a free thread takes the next task. Returns when all tasks are done; rethrows an
/// exception of `work`. Inside, libtorch's own operators run on the calling thread alone.
template <class Work>
void for_each_task(int threads, std::size_t tasks, const Work& work) {
  std::exception_ptr thrown;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
  for (std::size_t task = 0; task < tasks; ++task) {
    try {
      work(task, omp_get_thread_num());
    } catch (...) {
#pragma omp critical
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

/// Scales the sums of each of `parts` parts by `factor`, unless it is 1, and applies the part.
template <class SumsOf, class Apply>
void cut_and_apply(int threads, std::size_t parts, float factor, const SumsOf& sums_of,
                   const Apply& apply) {
  for_each_task(threads, parts, [&](std::size_t part, int) {
    if (factor < 1) scale(sums_of(part), factor);
    apply(part);
  });
}

}  // namespace forebay
