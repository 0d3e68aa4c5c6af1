#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tuner/agent/agent.h"
#include "tuner/agent/network.h"

namespace forebay::tuner {

/// Lets an agent tune a random pipeline in the simulator and tries alternatives along the way.
///
/// At each decision some single actions are tried in copies of the simulation, which continue with
/// the same random numbers and differ in that action alone. The difference in reward over the next
/// periods is the lesson. Comparing copies removes common noise: a plain temporal difference would
/// have to find half a per cent in noise of several.
std::vector<Lesson> experiment(std::uint64_t seed, const Network& network);

/// The options with which the shipped weights are trained. The same options give the same weights,
/// bit for bit, for any number of threads.
struct PretrainOptions {
  std::uint64_t seed = 1;
  std::uint32_t rounds = 4;  ///< After each round the experiments use the newly trained network.
  std::uint32_t experiments = 800;  ///< Random pipelines per round.
  std::uint32_t passes = 12;        ///< Over all lessons so far, per round.
  int threads = 2;                  ///< Affects only the time.
  std::function<void(const std::string&)> progress = {};
  std::function<bool()> stopped = {};
};

/// Trains the network in the simulator, on random pipelines. Returns early with the current weights
/// after `stopped`.
Network pretrain(const PretrainOptions& options);

}  // namespace forebay::tuner
