#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/evaluation/evaluation.h"

namespace forebay {

/// The result of one evaluation.
struct Evaluated {
  std::uint64_t step = 0;  ///< Steps trained since the job's start.
  Quality quality;

  bool operator==(const Evaluated&) const = default;
};

/// The summary of a run's evaluations: the best one, and whether to stop early.
struct EvaluationState {
  std::optional<std::uint64_t> best_step = {};  ///< The first of equals; empty without evaluations.
  std::uint64_t without_gain = 0;               ///< Evaluations since the best one.
  bool enough = false;                          ///< No gain for `early_stopping` evaluations.
};

/// Judges evaluations by `spec.early_stopping_metric`. An evaluation without that figure is no
/// gain, except for the AUC of rows of one class, which is ignored because it says nothing about
/// the model. A pure function of all evaluations since the job's start, so a resumed run ends at
/// the same step.
EvaluationState judge(const TrainerSpec& spec, std::span<const Evaluated> evaluations);

/// One JSON object for a checkpoint; "" if there are no evaluations. Parsing restores figures to
/// the last bit.
std::string to_json(std::span<const Evaluated> evaluations);
/// Returns nothing if `text` is not the output of `to_json`.
std::optional<std::vector<Evaluated>> parse_evaluations(const std::string& text);

}  // namespace forebay
