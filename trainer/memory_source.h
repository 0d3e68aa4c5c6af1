#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "trainer/copy_before_change.h"
#include "trainer/snapshot.h"

namespace forebay {

/// A tensor whose values lie in memory, in one piece.
struct MemoryTensor {
  StateTensor tensor;
  std::span<std::byte> memory;
  CopyBeforeChange* guard = nullptr;  ///< Of this memory; null: it is small, and copied at once.
};

/// `values` as bytes that may be written to.
MemoryTensor in_memory(StateTensor tensor, std::span<float> values,
                       CopyBeforeChange* guard = nullptr);

/// A snapshot of a model whose state lies in memory. The model outlives it.
class MemorySource final : public StateSource {
 public:
  /// Between two steps, in any order. Refused while another snapshot of a guarded tensor lives.
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

/// What they are, without where.
std::vector<StateTensor> tensors_of(const std::vector<MemoryTensor>& tensors);

/// Fills `tensors` from `from`, which has to have the same ones; changes nothing where it has not.
/// Between two steps, and while no snapshot lives.
Status restore_memory(StateSource& from, const std::vector<MemoryTensor>& tensors);

}  // namespace forebay
