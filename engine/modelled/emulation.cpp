#include "engine/modelled/emulation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/runtime/actor_host.h"
#include "core/runtime/synchronized.h"
#include "tuner/emulated/emulated_machine.h"
#include "tuner/live/tuner_actor.h"
#include "tuner/policy/policies.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

constexpr double kShownOver = 2;  // seconds; over a shorter time a rate is too noisy
constexpr double kBetweenShows = 0.5;

/// A run in real time: the machine, the policy that tunes it, and the observations.
class Emulation {
 public:
  Emulation(const EmulationSpec& spec, const EmulationHooks& hooks)
      : spec_(spec),
        hooks_(hooks),
        machine_(
            spec.model, spec.seed, clock_, [] { return false; }, spec.allocation) {}

  Result<EmulationOutcome> run(std::unique_ptr<tuner::Policy> policy,
                               std::unique_ptr<tuner::Policy> fallback);
  double now() const { return machine_.now(); }

 private:
  void run_fixed();
  void run_tuned(std::unique_ptr<tuner::Policy> policy, std::unique_ptr<tuner::Policy> fallback);
  void watch_until(double seconds);
  void note(const tuner::Decision& decision);
  void show();
  EmulationOutcome outcome();
  void compare_with_best(double begin, double end);

  const EmulationSpec& spec_;
  const EmulationHooks& hooks_;
  const SystemClock clock_;
  tuner::EmulatedMachine machine_;
  EmulationOutcome outcome_;
  std::vector<tuner::SimTotals> recent_;  // since the first of them: the displayed rates
  Synchronized<> serial_;
  std::vector<tuner::Observation> seen_;  // guarded by serial_ while a tuner lives, like view_
  EmulationView view_;
};

Result<EmulationOutcome> Emulation::run(std::unique_ptr<tuner::Policy> policy,
                                        std::unique_ptr<tuner::Policy> fallback) {
  if (policy == nullptr) {
    run_fixed();
  } else {
    run_tuned(std::move(policy), std::move(fallback));
  }
  seen_.push_back(machine_.observe());
  if (const auto failure = machine_.failure()) return tl::unexpected<Error>(*failure);
  return outcome();
}

void Emulation::run_fixed() {
  watch_until(spec_.seconds / 2);
  if (machine_.now() >= spec_.seconds / 2) machine_.observe();
  watch_until(spec_.seconds);
}

void Emulation::run_tuned(std::unique_ptr<tuner::Policy> policy,
                          std::unique_ptr<tuner::Policy> fallback) {
  ActorSystem system({}, clock_);
  const auto make_tuner = [&] {
    return std::make_unique<tuner::Tuner>(
        tuner::Tuner::Options{.tuned_pipeline = machine_,
                              .clock = clock_,
                              .policy = std::move(policy),
                              .fallback = std::move(fallback),
                              .on_decision = [this](const tuner::Decision& made) { note(made); }});
  };
  const auto tuner = tuner::start_tuner(system, {.make_tuner = make_tuner, .period = spec_.period});
  watch_until(spec_.seconds);
  if (const auto status = ask(tuner, tuner::AskTunerStatus{}, std::chrono::seconds(10)).wait()) {
    outcome_.tuner_cpu_share = status->cpu_seconds / std::max(status->seconds, 1e-9);
  }
}

void Emulation::watch_until(double seconds) {
  constexpr double kBetweenLooks = 0.1;
  while (machine_.now() < seconds && !machine_.out_of_memory() && !hooks_.stopped()) {
    machine_.run_until(std::min(seconds, machine_.now() + kBetweenLooks));
    if (recent_.empty() || machine_.now() >= recent_.back().seconds + kBetweenShows) show();
  }
}

void Emulation::note(const tuner::Decision& decision) {
  serial_([&] {
    seen_.push_back(decision.seen);
    ++outcome_.decisions;
    if (!decision.guarded.empty()) ++outcome_.guarded;
    view_.decisions = decision.number;
    view_.reason = decision.fault.empty() ? decision.proposal.reason : decision.fault;
  });
}

void Emulation::show() {
  recent_.push_back(machine_.totals());
  const tuner::SimTotals& now = recent_.back();
  const tuner::SimTotals& then = recent_.front();
  const double passed = std::max(now.seconds - then.seconds, 1e-9);
  const tuner::CurrentState current = machine_.current();
  EmulationView view = serial_([this] { return EmulationView(view_); });
  view.seconds = now.seconds;
  view.splits_per_second = static_cast<double>(now.trained - then.trained) / passed;
  view.cpus_busy = (now.cpu_seconds - then.cpu_seconds) / passed;
  view.memory_bytes = current.memory_bytes;
  view.limits = current.limits;
  view.allocation = {.actors = current.actors, .prefetch = current.prefetch};
  if (passed >= kShownOver) recent_.erase(recent_.begin());
  hooks_.show(view);
}

void Emulation::compare_with_best(double begin, double end) {
  if (!spec_.find_best) return;
  compare(outcome_.figures, tuner::oracle_line(spec_.model, end, spec_.find_best), begin, end);
}

/// Sums the intervals of the second half; at least the last one.
EmulationOutcome Emulation::outcome() {
  auto first = seen_.end() - 1;
  while (first != seen_.begin() &&
         (first - 1)->at_seconds - (first - 1)->seconds / 2 >= spec_.seconds / 2) {
    --first;
  }
  const tuner::CurrentState current = machine_.current();
  ModelledFigures& figures = outcome_.figures;
  figures.measured = sum_of({first, seen_.end()});
  figures.allocation = {.actors = current.actors, .prefetch = current.prefetch};
  const double end = figures.measured.at_seconds;
  const double begin = first == seen_.begin() ? 0 : (first - 1)->at_seconds;
  figures.paused_seconds = tuner::paused_between(spec_.model, begin, end);
  if (tuner::is_world(spec_.model)) {
    compare_with_best(begin, end);
  } else {
    figures.oracle_splits_per_second =
        oracle_rate(spec_.model, std::max(0.0, end - figures.measured.seconds), end);
  }
  figures.peak_memory_bytes = machine_.totals().memory_peak;
  figures.out_of_memory = machine_.out_of_memory();
  outcome_.lateness = machine_.lateness();
  return outcome_;
}

}  // namespace

Result<EmulationOutcome> emulate(const EmulationSpec& spec, const EmulationHooks& hooks) {
  std::function<double()> now = [] { return 0.0; };
  std::unique_ptr<tuner::Policy> policy;
  std::unique_ptr<tuner::Policy> fallback;
  if (!spec.policy.empty()) {
    const tuner::PipelineModel start = tuner::model_at(spec.model, 0);
    const tuner::PolicyContext context{
        .description = tuner::description_of(spec.model),
        .limits = {.cpus = start.cpus, .memory_bytes = start.memory_bytes},
        .seed = spec.seed,
        .fixed = spec.allocation,
        .truth =
            [&] {
              const tuner::PipelineModel current = tuner::model_at(spec.model, now());
              return tuner::Truth{.costs = tuner::costs_of(current),
                                  .trainer_rate = tuner::trainer_rate_of(current)};
            },
        .weights = {}};
    auto made = tuner::make_policy(spec.policy, context);
    if (!made) return pass(made);
    policy = std::move(*made);
    if (auto plain = tuner::make_policy("intune:no-network", context)) fallback = std::move(*plain);
  }
  Emulation emulation(spec, hooks);
  now = [&] { return emulation.now(); };
  return emulation.run(std::move(policy), std::move(fallback));
}

}  // namespace forebay
