#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "trainer/state/copy_before_change.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// A tensor whose values are contiguous in memory.
struct MemoryTensor {
  StateTensor tensor;
  std::span<std::byte> memory;
  CopyBeforeChange* guard = nullptr;  ///< Of this memory; null: small, copied at once.
};

/// Describes `values` as writable bytes.
MemoryTensor in_memory(StateTensor tensor, std::span<float> values,
                       CopyBeforeChange* guard = nullptr);

/// A snapshot of a model whose state is in memory. The model outlives it.
class MemorySource final : public StateSource {
 public:
  /// Call it between two steps; tensors in any order. Fails while another snapshot of a guarded
  /// tensor exists.
  static Result<std::unique_ptr<StateSource>> take(std::vector<MemoryTensor> tensors);
  ~MemorySource() override;
  MemorySource(const MemorySource&) = delete;
  MemorySource& operator=(const MemorySource&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;

 private:
  explicit MemorySource(const std::vector<MemoryTensor>& tensors);

  struct Location {
    CopyBeforeChange* guard = nullptr;
    std::vector<std::byte> copy;  // without a guard
  };

  std::vector<StateTensor> tensors_;
  std::vector<Location> locations_;
};

/// The descriptions of the tensors, without their memory.
std::vector<StateTensor> tensors_of(const std::vector<MemoryTensor>& tensors);

/// Fills `tensors` from `from`, which must have the same tensors; otherwise changes nothing. Call
/// it between two steps, while no snapshot exists.
Status restore_memory(StateSource& from, const std::vector<MemoryTensor>& tensors);

}  // namespace forebay
