#include "tuner/compare/machine.h"

#include "tuner/sim/simulator.h"

namespace forebay::tuner {
namespace {

class SimulatedMachine final : public Machine {
 public:
  SimulatedMachine(const PipelineModel& model, std::uint64_t seed) : simulator_(model, seed) {}

  TunedPipeline& tuned_pipeline() override { return simulator_; }
  void run_until(double seconds) override { simulator_.run_until(seconds); }
  MachineTotals totals() const override {
    const SimTotals totals = simulator_.totals();
    return {.seconds = totals.seconds,
            .trained = totals.trained,
            .cpu_seconds = totals.cpu_seconds,
            .out_of_memory = simulator_.out_of_memory()};
  }

 private:
  Simulator simulator_;
};

}  // namespace

MachineMaker simulated_machines() {
  return [](const PipelineModel& model, std::uint64_t seed) {
    return std::make_unique<SimulatedMachine>(model, seed);
  };
}

}  // namespace forebay::tuner
