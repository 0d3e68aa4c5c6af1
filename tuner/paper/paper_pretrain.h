#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tuner/paper/paper_agent.h"

namespace forebay::tuner {

/// The advantages of all steps of one stage in one state.
struct PaperSample {
  PaperFeatures row = {};
  PaperOutputs advantages = {};  ///< Per cent of the reward of keeping the stage as it stands.
};

/// Lets a network tune a random simulated pipeline, and computes in each state that it visits what
/// the steps of every stage are worth: the paper's reward that the pipeline's true costs allow
/// after the step, while the other stages step as the network says, over the reward without the
/// step.
std::vector<PaperSample> paper_episode(std::uint64_t seed, const Network& network);

/// The options with which the shipped weights are trained. The same options give the same weights,
/// bit for bit, for any number of threads.
struct PaperPretrainOptions {
  std::uint64_t seed = 1;
  std::uint32_t rounds = 6;      ///< After each round the episodes use the newly trained network.
  std::uint32_t episodes = 600;  ///< Random pipelines per round.
  std::uint32_t passes = 12;     ///< Over all samples so far, per round.
  int threads = 2;               ///< Affects only the time.
  std::function<void(const std::string&)> progress = {};
  std::function<bool()> stopped = {};
};

/// Trains the network in the simulator. Returns early with the current weights after `stopped`.
Network paper_pretrain(const PaperPretrainOptions& options);

}  // namespace forebay::tuner
