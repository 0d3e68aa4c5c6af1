#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "trainer/model.h"
#include "trainer/state/memory_source.h"

namespace forebay {

/// Takes `step` for each batch without using a CPU, as a trainer on an accelerator would. With a
/// step of 0 it does nothing with the batches, so that only the pipeline's speed counts.
///
/// Has no weights and no loss. `pause` does the waiting; a test passes its own.
class EmulatedModel final : public Model {
 public:
  using Pause = std::function<void(std::chrono::nanoseconds)>;

  explicit EmulatedModel(std::chrono::nanoseconds step) : EmulatedModel(step, wait) {}
  EmulatedModel(std::chrono::nanoseconds step, Pause pause)
      : step_(step), pause_(std::move(pause)) {}

  bool learns() const override { return false; }
  Result<double> step(const Batch& batch) override;
  Status predict(const Batch& batch, std::span<float> scores) override;
  Result<std::unique_ptr<StateSource>> snapshot() override { return MemorySource::take({}); }
  Status restore(StateSource& from) override { return restore_memory(from, {}); }

 private:
  static void wait(std::chrono::nanoseconds time);

  const std::chrono::nanoseconds step_;
  const Pause pause_;
};

}  // namespace forebay
