#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/terminal/stage_view.h"

namespace forebay {

/// A finished run, as its summary shows it.
struct SummaryView {
  std::uint64_t rows = 0;
  std::uint64_t batches = 0;
  double seconds = 0;
  double starved_ratio = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t cpus = 0;
  double cpus_busy = 0;  ///< CPU seconds of the process over `seconds`.
  std::vector<StageView> stages = {};
  std::uint64_t decisions = 0;  ///< The tuner's,
  std::string tuner = {};       ///< and what the last of them was.

  enum class Consumer : std::uint8_t { kTrainer, kNobody };
  Consumer consumer = Consumer::kTrainer;
};

/// The stage that holds the others up, and the reason: one sentence, with what to do.
///
/// The trainer, when it was hardly ever without a batch; the CPUs, when all of them were busy, with
/// the stage that took most; else the stage whose actors were busiest. Pure.
std::string name_bottleneck(const SummaryView& view);

/// The whole summary: figures, a table of the stages, the bottleneck.
std::string format_summary(const SummaryView& view);

}  // namespace forebay
