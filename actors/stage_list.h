#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// A stage of the pipeline: its name, its work and its bound. A value.
struct StageInfo {
  enum class Kind : std::uint8_t { kLoad, kDecode, kShuffle, kTransform };

  std::string name;
  Kind kind = Kind::kTransform;
  /// kTransform: the range [first_op, end_op) of the job's operators that the stage runs.
  std::size_t first_op = 0;
  std::size_t end_op = 0;
  std::uint32_t max_actors = 128;  ///< The most actors that a tuner gives it.
};

/// The stages that a split passes, in order. A job's operators determine it; pools, allocations,
/// times, keys and figures of stages are indexed by it.
using StageList = std::vector<StageInfo>;

inline constexpr const char* kDecodeStage = "decode";
/// The stage of the first operators, unless the job names one.
inline constexpr const char* kTransformStage = "transform";

/// The most stages of a pipeline.
inline constexpr std::size_t kMostStages = 64;

/// Returns load, decode, shuffle and the stages of `operators`: neighbours with the same
/// `TransformSpec::stage` are one stage, an operator without one joins the stage before it, the
/// first ones `transform`, and one that runs Python begins a stage `python`, `python-2`, …. A job
/// without operators has an empty `transform`; every other stage behind shuffle runs at least one
/// operator. kInvalid names the operator's table, from 1: not a stage's name, the name of
/// another stage, or more than kMostStages.
Result<StageList> stages_of(const std::vector<TransformSpec>& operators);

/// Returns `load, decode, …` for messages.
std::string names_of(const StageList& stages);

}  // namespace forebay
