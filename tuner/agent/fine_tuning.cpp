#include "tuner/agent/fine_tuning.h"

#include <vector>

namespace forebay::tuner {

void fine_tune(Network& network, std::span<const OutputTarget> targets, const FineTuning& tuning) {
  std::vector<Network::Trace> traces(targets.size());
  std::vector<float> outputs(network.shape().outputs);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    network.forward(targets[i].input, outputs, &traces[i]);
  }
  for (int pass = 0; pass < tuning.passes; ++pass) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::size_t output = targets[i].output;
      const float error = network.output_of(traces[i], output) - targets[i].value;
      network.step_last_layer(traces[i], output, error, tuning.rate);
    }
  }
}

}  // namespace forebay::tuner
