#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// The steps that InTune's agent selects from, per stage; the first keeps what stands.
inline constexpr std::array<int, 5> kPaperSteps{0, -5, -1, +1, +5};

/// What the network sees of one stage.
///
/// The six factors of InTune's environment (Nagrecha et al., RecSys 2023) are pipeline latency,
/// free CPUs, free memory, the model's latency, DRAM bandwidth and CPU speed; the stage's actors
/// and last step come in addition, since a step is worth nothing without the number from which it
/// is taken.
inline constexpr std::size_t kPaperFeatures = 19;
using PaperFeatures = std::array<float, kPaperFeatures>;

/// Follows a pipeline from observation to observation and computes the network's inputs, scaled to
/// about [-1, 1]. A value.
class PaperState {
 public:
  explicit PaperState(PipelineDescription description);

  /// Adds an interval; the observation must be plausible() (tuner/model).
  void observe(const Observation& seen);

  /// One row per stage, of the last interval. Another order of the stages only changes the order of
  /// the rows.
  std::vector<PaperFeatures> rows() const;
  /// The paper's reward of the last interval: throughput × (1 − memory used / total), splits/s.
  double reward() const { return reward_; }
  /// Remembers the steps that were taken after the last interval, one index into kPaperSteps each.
  void took(const std::vector<std::uint8_t>& steps) { last_steps_ = steps; }

 private:
  struct Stage {
    double seconds = 0;     // that a split takes, smoothed; 0: none was completed
    double unfinished = 0;  // of work since the last completed split, per actor
    double least = 0;       // of `seconds` so far
  };

  double seconds_of(std::size_t stage) const;
  void fill(std::size_t stage, const std::vector<double>& latencies, PaperFeatures& row) const;

  PipelineDescription description_;
  std::vector<Stage> stages_;
  Observation seen_;
  std::vector<std::uint8_t> last_steps_;
  double reward_ = 0;
  double change_ = 0;  // of the reward in the last interval, relative
};

}  // namespace forebay::tuner
