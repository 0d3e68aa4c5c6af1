#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"
#include "tuner/agent/network.h"
#include "tuner/paper/state.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// The advantage of each step but the first over keeping what stands, in per cent of the reward.
inline constexpr std::size_t kPaperOutputs = kPaperSteps.size() - 1;
using PaperOutputs = std::array<float, kPaperOutputs>;

inline constexpr Network::Shape kPaperShape{
    .inputs = kPaperFeatures, .hidden = 32, .outputs = kPaperOutputs};

/// The step with the largest advantage for each row, or 0 if none promises `margin`.
std::vector<std::uint8_t> best_steps(const Network& network, std::span<const PaperFeatures> rows,
                                     float margin);

/// The current allocation with a step in each stage, within bounds and memory; prefetch
/// stays as it is.
Allocation stepped(const PipelineDescription& description, const Limits& limits,
                   const Allocation& standing, const std::vector<std::uint8_t>& steps);

/// What a step brought while a job ran.
struct PaperLesson {
  PaperFeatures row = {};
  std::uint8_t step = 0;  ///< Index into kPaperSteps, not 0.
  float advantage = 0;
};

/// Adjusts the last layer of `network` to the lessons by a few small steps.
void fine_tune(Network& network, std::span<const PaperLesson> lessons);

/// InTune's agent as published (Nagrecha et al., RecSys 2023), without a planner: a network of
/// three layers with ReLU sees six factors and moves each stage by −5, −1, 0, +1 or +5 actors from
/// what stands; pre-trained in the simulator for throughput × (1 − memory used / total), and
/// fine-tuned while the job runs. README.md here says what the paper leaves open.
class PaperAgent final : public Policy {
 public:
  /// Returns kCorrupt if the weights of this build cannot be used.
  static Result<std::unique_ptr<Policy>> make(PipelineDescription description, std::uint64_t seed);

  PaperAgent(PipelineDescription description, Network network, std::uint64_t seed);

  std::string_view name() const override { return "intune-paper"; }
  Proposal decide(const Observation& observed) override;

 private:
  void learn();
  void explore(std::vector<std::uint8_t>& steps, const Observation& seen);

  PipelineDescription description_;
  Network network_;
  Random random_;
  PaperState state_;
  std::deque<PaperLesson> lessons_;
  PaperLesson pending_;
  bool trying_ = false;       // the last decision moved one stage, the decision before it no stage
  int calm_ = 0;              // decisions in a row that kept what stood
  double reward_before_ = 0;  // when the pending step was taken
};

/// The weights that this build contains (intune-paper.weights here, made by `forebay tune pretrain
/// --policy intune-paper`).
std::span<const unsigned char> shipped_paper_weights();

}  // namespace forebay::tuner
