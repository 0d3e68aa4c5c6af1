#include "engine/emulated/world_emulation.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/central_tuner.h"
#include "engine/emulated/emulated_central.h"
#include "engine/emulated/world_machine.h"
#include "tuner/live/tuner_actor.h"
#include "tuner/policy/policies.h"
#include "tuner/world/node_pipeline.h"
#include "tuner/world/world_layout.h"
#include "tuner/world/world_sums.h"

namespace forebay {
namespace {

constexpr double kBetweenLooks = 0.1;  // seconds
constexpr double kBetweenShows = 0.5;
constexpr double kShownOver = 2;  // over a shorter time a rate is too noisy

/// Sums of the whole world at a moment.
struct WorldTotals {
  double seconds = 0;
  ModelledTrainer::Totals trained = {};
  std::vector<tuner::NodeTotals> nodes = {};

  double cpu_seconds() const {
    double sum = 0;
    for (const tuner::NodeTotals& each : nodes) sum += each.cpu_seconds;
    return sum;
  }
};

WorldTotals totals_of(const WorldMachine& machine) {
  WorldTotals totals{.seconds = machine.now(), .trained = machine.trained()};
  for (std::size_t k = 0; k < machine.nodes(); ++k) totals.nodes.push_back(machine.totals_of(k));
  return totals;
}

Status check_threads_of(const EmulationSpec& spec) {
  const std::size_t beside = WorldMachine::threads_beside(spec.model.nodes.size());
  const std::size_t wanted = beside + spec.allocation.total_actors();
  if (wanted <= WorldMachine::kMostThreads) return {};
  return fail(Code::kInvalid, "--allocation: " + std::to_string(spec.allocation.total_actors()) +
                                  " actors on " + std::to_string(spec.model.nodes.size()) +
                                  " emulated nodes need " + std::to_string(wanted) +
                                  " threads, but must need at most " +
                                  std::to_string(WorldMachine::kMostThreads) +
                                  "; give fewer actors, or use forebay simulate");
}

struct NodePolicies {
  std::unique_ptr<tuner::Policy> policy;
  std::unique_ptr<tuner::Policy> fallback;
};

Result<NodePolicies> policies_of(const EmulationSpec& spec, const WorldMachine& machine,
                                 std::size_t k) {
  const tuner::NodeModel node = tuner::model_at(spec.model, 0).nodes[k];
  const tuner::PolicyContext context{
      .description = machine.description_of(k),
      .limits = {.cpus = node.cpus, .memory_bytes = node.memory_bytes},
      .seed = k == 0 ? spec.seed : mix64(spec.seed, k),
      .fixed = tuner::part_of_node(spec.allocation, spec.model, k),
      .truth = {},
      .weights = {}};
  auto made = tuner::make_policy(spec.policy, context);
  if (!made) return pass(made);
  NodePolicies policies{.policy = std::move(*made), .fallback = nullptr};
  if (auto plain = tuner::make_policy("intune:no-network", context)) {
    policies.fallback = std::move(*plain);
  }
  return policies;
}

/// A run in real time: the machine, the tuners of its nodes, and the observations.
class WorldEmulation {
 public:
  WorldEmulation(const EmulationSpec& spec, const EmulationHooks& hooks, WorldMachine& machine)
      : spec_(spec), hooks_(hooks), machine_(machine), seen_(machine.nodes()) {}

  Result<EmulationOutcome> run(std::vector<NodePolicies> policies);

 private:
  void run_tuned(std::vector<NodePolicies> policies);
  void watch_until(double seconds);
  void watch_run();
  void observe_all();
  void note(std::size_t node, const tuner::Decision& decision);
  void note_fed(std::uint32_t workers);
  void show();
  tuner::Observation measured();
  EmulationOutcome outcome();

  const EmulationSpec& spec_;
  const EmulationHooks& hooks_;
  WorldMachine& machine_;
  EmulationOutcome outcome_;
  std::vector<WorldTotals> recent_;  // since the first of them: the displayed rates
  WorldTotals half_;                 // at the begin of the part that counts
  Synchronized<> serial_;
  // Guarded by serial_ while tuners live.
  std::vector<std::vector<tuner::Observation>> seen_;  // by node, of the part that counts
  std::vector<double> fed_;  // workers, by joint decision of the part that counts
  EmulationView view_;
};

Result<EmulationOutcome> WorldEmulation::run(std::vector<NodePolicies> policies) {
  half_.nodes.resize(machine_.nodes());
  if (policies.empty()) {
    watch_run();
  } else {
    run_tuned(std::move(policies));
  }
  observe_all();
  if (const auto failure = machine_.failure()) return tl::unexpected<Error>(*failure);
  return outcome();
}

void WorldEmulation::run_tuned(std::vector<NodePolicies> policies) {
  const SystemClock clock;
  std::vector<tuner::NodePipeline> pipelines;
  pipelines.reserve(policies.size());  // Tuners refer to them.
  ActorSystem system({}, clock);
  if (spec_.policy == kCentralTuner) {
    const std::string& own = spec_.model.nodes[tuner::trainer_node_of(spec_.model)].name;
    const TunersRef central = start_central(
        system, machine_,
        {.period = spec_.period,
         .own = own,
         .on_decision = [this](const auto&, const auto& advice) { note_fed(advice.fed); }});
    for (std::size_t k = 0; k < policies.size(); ++k) {
      policies[k].policy =
          central_policy_of(k, machine_, spec_.model, central, std::move(policies[k].policy));
    }
  }
  std::vector<tuner::TunerActor::Ref> tuners;
  for (std::size_t k = 0; k < policies.size(); ++k) {
    pipelines.emplace_back(machine_, k);
    const auto make_tuner = [this, &clock, &pipelines, &policies, k] {
      return std::make_unique<tuner::Tuner>(tuner::Tuner::Options{
          .tuned_pipeline = pipelines[k],
          .clock = clock,
          .policy = std::move(policies[k].policy),
          .fallback = std::move(policies[k].fallback),
          .on_decision = [this, k](const tuner::Decision& made) { note(k, made); }});
    };
    tuners.push_back(tuner::start_tuner(
        system, {.make_tuner = make_tuner, .period = spec_.period, .present = [this, k] {
                   return machine_.present(k);
                 }}));
  }
  watch_run();
  for (const auto& tuner : tuners) {
    if (const auto status = ask(tuner, tuner::AskTunerStatus{}, std::chrono::seconds(10)).wait()) {
      outcome_.tuner_cpu_share += status->cpu_seconds / std::max(status->seconds, 1e-9);
    }
  }
}

void WorldEmulation::watch_run() {
  watch_until(spec_.seconds / 2);
  if (machine_.now() >= spec_.seconds / 2) {
    if (spec_.policy.empty()) observe_all();
    half_ = totals_of(machine_);
    serial_([this] {
      for (auto& node : seen_) node.clear();
      fed_.clear();
    });
  }
  watch_until(spec_.seconds);
}

void WorldEmulation::observe_all() {
  for (std::size_t k = 0; k < machine_.nodes(); ++k) {
    tuner::Observation seen = machine_.observe_node(k);
    serial_([&] { seen_[k].push_back(std::move(seen)); });
  }
}

void WorldEmulation::watch_until(double seconds) {
  while (machine_.now() < seconds && !machine_.out_of_memory() && !machine_.failure() &&
         !hooks_.stopped()) {
    machine_.run_until(std::min(seconds, machine_.now() + kBetweenLooks));
    if (recent_.empty() || machine_.now() >= recent_.back().seconds + kBetweenShows) show();
  }
}

void WorldEmulation::note(std::size_t node, const tuner::Decision& decision) {
  serial_([&] {
    seen_[node].push_back(decision.seen);
    ++outcome_.decisions;
    if (!decision.guarded.empty()) ++outcome_.guarded;
    view_.decisions = std::max(view_.decisions, decision.number);
    view_.reason = spec_.model.nodes[node].name + ": " +
                   (decision.fault.empty() ? decision.proposal.reason : decision.fault);
  });
}

void WorldEmulation::note_fed(std::uint32_t workers) {
  serial_([&] { fed_.push_back(workers); });
}

void WorldEmulation::show() {
  recent_.push_back(totals_of(machine_));
  const WorldTotals& now = recent_.back();
  const WorldTotals& then = recent_.front();
  const double passed = std::max(now.seconds - then.seconds, 1e-9);
  EmulationView view = serial_([this] { return EmulationView(view_); });
  view.seconds = now.seconds;
  view.splits_per_second = static_cast<double>(now.trained.trained - then.trained.trained) / passed;
  view.cpus_busy = (now.cpu_seconds() - then.cpu_seconds()) / passed;
  const tuner::CurrentState current = machine_.current();
  view.allocation = current.allocation();
  view.memory_bytes = current.memory_bytes;
  view.limits = current.limits;
  if (passed >= kShownOver) recent_.erase(recent_.begin());
  hooks_.show(view);
}

/// The observations of all nodes as that of one pipeline, whose stages are the world's lines.
tuner::Observation WorldEmulation::measured() {
  const WorldTotals end = totals_of(machine_);
  tuner::Observation whole{.limits = {.cpus = 0}};
  for (std::size_t k = 0; k < machine_.nodes(); ++k) {
    tuner::add_node(sum_of(seen_[k]), spec_.model.nodes[k].trainer, whole);
  }
  whole.at_seconds = end.seconds;
  const double paused = tuner::paused_between(spec_.model, half_.seconds, end.seconds);
  whole.seconds = end.seconds - half_.seconds - paused;
  whole.trainer_steps = end.trained.trained - half_.trained.trained;
  whole.trainer_step_seconds = end.trained.step_seconds - half_.trained.step_seconds;
  whole.trainer_wait_seconds = end.trained.wait_seconds - half_.trained.wait_seconds;
  return whole;
}

EmulationOutcome WorldEmulation::outcome() {
  ModelledFigures& figures = outcome_.figures;
  figures.measured = measured();
  figures.allocation = machine_.current().allocation();
  const double end = figures.measured.at_seconds;
  figures.paused_seconds = tuner::paused_between(spec_.model, half_.seconds, end);
  const double length = std::max(figures.seconds(), 1e-12);
  for (std::size_t k = 0; k < machine_.nodes(); ++k) {
    const tuner::NodeTotals now = machine_.totals_of(k);
    const tuner::NodeTotals& then = half_.nodes[k];
    figures.nodes.push_back(
        {.name = spec_.model.nodes[k].name,
         .splits_per_second = static_cast<double>(now.trained - then.trained) / length,
         .cpus_used = (now.cpu_seconds - then.cpu_seconds) / length,
         .peak_memory_bytes = now.memory_peak,
         .out_of_memory = now.out_of_memory});
    figures.peak_memory_bytes = std::max(figures.peak_memory_bytes, now.memory_peak);
  }
  figures.out_of_memory = machine_.out_of_memory();
  if (spec_.find_best) {
    compare(figures, tuner::oracle_line(spec_.model, end, spec_.find_best), half_.seconds, end);
  }
  if (!fed_.empty()) {
    const double sum = std::accumulate(fed_.begin(), fed_.end(), 0.0);
    outcome_.fed_workers = sum / static_cast<double>(fed_.size());
  }
  outcome_.lateness = machine_.lateness();
  return outcome_;
}

}  // namespace

Result<EmulationOutcome> emulate_world(const EmulationSpec& spec, const EmulationHooks& hooks) {
  if (auto status = check_threads_of(spec); !status) return pass(status);
  const SystemClock clock;
  auto machine = WorldMachine::make(spec.model, spec.seed, clock, spec.allocation);
  if (!machine) return pass(machine);
  std::vector<NodePolicies> policies;
  for (std::size_t k = 0; k < spec.model.nodes.size() && !spec.policy.empty(); ++k) {
    auto made = policies_of(spec, **machine, k);
    if (!made) return pass(made);
    policies.push_back(std::move(*made));
  }
  return WorldEmulation(spec, hooks, **machine).run(std::move(policies));
}

}  // namespace forebay
