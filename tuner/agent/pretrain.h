#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tuner/agent/network.h"

namespace forebay::tuner {

/// How the shipped weights are made. The same options give the same weights, bit for bit, however
/// many threads work on it.
struct PretrainOptions {
  std::uint64_t seed = 1;
  std::uint32_t rounds = 4;         ///< Between them the network the experiments use is renewed.
  std::uint32_t experiments = 800;  ///< Random pipelines a round.
  std::uint32_t passes = 12;        ///< Over all lessons so far, a round.
  int threads = 2;                  ///< Changes nothing but the time it takes.
  std::function<void(const std::string&)> progress = {};
  std::function<bool()> stopped = {};
};

/// Trains the network in the simulator, on random pipelines. What it has after `stopped` is
/// returned.
Network pretrain(const PretrainOptions& options);

}  // namespace forebay::tuner
