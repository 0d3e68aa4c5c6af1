#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/evaluation.h"

namespace forebay {

/// What one evaluation found.
struct Evaluated {
  std::uint64_t step = 0;  ///< Steps trained since the job's start.
  Quality quality;

  bool operator==(const Evaluated&) const = default;
};

/// How a run's evaluations stand: which was the best, and whether it is time to end.
struct EvaluationState {
  std::optional<std::uint64_t> best_step = {};  ///< The first of equals; nothing without any.
  std::uint64_t without_gain = 0;               ///< How many have followed the best.
  bool enough = false;                          ///< No gain for `early_stopping` of them.
};

/// Judges them by `spec.early_stopping_metric`. One that has no such figure is no gain, but for
/// the AUC of rows of one class: that says nothing of the model. A pure function of all evaluations
/// since the job's start, so a resumed run ends where it would have.
EvaluationState judge(const TrainerSpec& spec, std::span<const Evaluated> evaluations);

/// As a checkpoint keeps them: one JSON object; "" for none. Figures come back to the last bit.
std::string to_json(std::span<const Evaluated> evaluations);
/// Nothing when `text` is not what `to_json` gives.
std::optional<std::vector<Evaluated>> parse_evaluations(const std::string& text);

}  // namespace forebay
