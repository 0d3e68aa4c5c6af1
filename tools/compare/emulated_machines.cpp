#include "tools/compare/emulated_machines.h"

#include "tuner/emulated/emulated_machine.h"

namespace forebay {
namespace {

class InRealTime final : public tuner::Machine {
 public:
  InRealTime(const tuner::PipelineModel& model, std::uint64_t seed, const Clock& clock,
             const std::atomic<bool>& stop)
      : machine_(model, seed, clock), stop_(stop) {}

  tuner::TunedPipeline& tuned_pipeline() override { return machine_; }
  void run_until(double seconds) override {
    machine_.run_until(seconds, [this] { return stop_.load(); });
  }
  tuner::MachineTotals totals() const override {
    const tuner::SimTotals totals = machine_.totals();
    return {.seconds = totals.seconds,
            .trained = totals.trained,
            .cpu_seconds = totals.cpu_seconds,
            .out_of_memory = machine_.out_of_memory()};
  }

 private:
  tuner::EmulatedMachine machine_;
  const std::atomic<bool>& stop_;
};

}  // namespace

tuner::MachineMaker emulated_machines(const Clock& clock, const std::atomic<bool>& stop) {
  return [&clock, &stop](const tuner::PipelineModel& model, std::uint64_t seed) {
    return std::make_unique<InRealTime>(model, seed, clock, stop);
  };
}

}  // namespace forebay
