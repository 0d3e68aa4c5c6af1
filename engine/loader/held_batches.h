#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/data/batch.h"

namespace forebay {

/// Counts the batches of a loader that the program holds. Any thread may read the counts and
/// release a batch; batches may outlive the loader.
class HeldBatches {
 public:
  /// Returns the batch, counted until the last copy of the result is destroyed. `memory`: what the
  /// batch refers to; it is released after the batch.
  static std::shared_ptr<const Batch> hold(const std::shared_ptr<HeldBatches>& all,
                                           std::shared_ptr<const void> memory,
                                           std::shared_ptr<const Batch> batch);

  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  class Held;

  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace forebay
