#pragma once

#include <cstddef>
#include <span>

#include "tuner/agent/network.h"

namespace forebay::tuner {

/// What one output of a network should be for an input.
struct OutputTarget {
  std::span<const float> input;
  std::size_t output = 0;  ///< Index.
  float value = 0;
};

/// How far a network's last layer moves towards its targets.
struct FineTuning {
  int passes = 1;  ///< Over all targets.
  float rate = 0;  ///< Of a step against the gradient of half the squared error.
};

/// Adjusts the last layer of `network` to the targets by one small step for each, in their order.
/// The other layers stay, so each input passes through them once, whatever the number of passes.
void fine_tune(Network& network, std::span<const OutputTarget> targets, const FineTuning& tuning);

}  // namespace forebay::tuner
