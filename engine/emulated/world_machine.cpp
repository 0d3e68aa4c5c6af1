#include "engine/emulated/world_machine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tuner/world/world_layout.h"
#include "tuner/world/world_sums.h"

namespace forebay {
namespace {

/// Splits issued beyond those that the nodes can hold, so that one always waits for a lease.
constexpr std::uint64_t kIssuedAhead = 64;

constexpr double kTick = 0.1;  // seconds

}  // namespace

std::size_t WorldMachine::threads_beside(std::size_t nodes) {
  constexpr std::size_t kOfWorld = 5;  // Owner, clock, trainer, head and split client.
  constexpr std::size_t kOfNode = 6;   // Five of its network, and its tuner's.
  return kOfWorld + kOfNode * nodes;
}

WorldMachine::WorldMachine(const tuner::PipelineModel& model, std::uint64_t seed,
                           const Clock& clock)
    : model_(model),
      description_(tuner::world_description(model)),
      clock_(clock),
      own_(tuner::trainer_node_of(model)),
      machine_(model, seed, clock),
      trainer_(trainer_options()),
      locks_(model.nodes.size()),
      parts_(model.nodes.size()) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    parts_[k].wanted = tuner::one_each(tuner::node_description(model_, k));
  }
}

void WorldMachine::want(const tuner::Allocation& first) {
  trainer_.set_prefetch(std::max(1U, first.prefetch));
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    parts_[k].wanted = tuner::part_of_node(first, model_, k);
  }
}

ModelledTrainer::Options WorldMachine::trainer_options() {
  return {.model = model_,
          .machine = machine_,
          .clock = clock_,
          .on_take = [this](std::uint64_t number,
                            double at) { head_->taken(number, at, trainer_.prefetch()); },
          .on_move =
              [this] {
                if (EmulatedNode* own = own_node_) own->observer().look();
              },
          .on_empty =
              [this] {
                if (EmulatedNode* own = own_node_) own->observer().note_empty();
              }};
}

Result<std::unique_ptr<WorldMachine>> WorldMachine::make(
    const tuner::PipelineModel& model, std::uint64_t seed, const Clock& clock,
    const std::optional<tuner::Allocation>& first) {
  auto machine = std::unique_ptr<WorldMachine>(new WorldMachine(model, seed, clock));  // NOLINT
  if (first) machine->want(*first);
  if (auto status = machine->start(); !status) return pass(status);
  return machine;
}

Status WorldMachine::start() {
  auto head =
      WorldTrainer::make({.nodes = parts_.size(),
                          .ordered = model_.stages.back().ordered,
                          .prefetch = trainer_.prefetch(),
                          .window = [this] { return slots_ + kIssuedAhead; },
                          .on_arrival = [this](const MadeSplit& made) { trainer_.arrived(made); }},
                         clock_);
  if (!head) return pass(head);
  head_ = std::move(*head);
  // head_ is null while the head is destroyed, which ends the actor that calls these functions.
  WorldTrainer& running = *head_;
  world_.emplace(EmulatedWorld{
      .model = model_,
      .machine = machine_,
      .trainer = trainer_,
      .clock = clock_,
      .head = running.address(),
      .trainer_net = running.net(),
      .head_actor = running.head(),
      .split_client = running.split_client(),
      .issued_at = [&running](std::uint64_t number) { return running.issued_at(number); },
      .on_own_split =
          [this, &running](const MadeSplit& made) {
            trainer_.arrived(made);
            running.own_split_arrived(made.key);
          }});
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (auto status = bring_back(k); !status) return status;
  }
  return {};
}

WorldMachine::~WorldMachine() {
  machine_.stop();
  trainer_.cancel();
  trainer_.join();
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (k != own_) parts_[k].node.reset();
  }
  if (EmulatedNode* own = own_node_.exchange(nullptr)) own->stop();
  head_.reset();
}

Status WorldMachine::bring_back(std::size_t k) {
  machine_.bring_back(k);
  const auto first = locks_[k]([&] { return tuner::Allocation(parts_[k].wanted); });
  auto node = EmulatedNode::make(*world_, k, first);
  if (!node) return pass(node);
  if (k == own_) own_node_ = node->get();
  locks_[k]([&] {
    (*node)->apply(parts_[k].wanted);  // Its tuner may have changed it meanwhile.
    (*node)->set_fed(parts_[k].fed);
    parts_[k].node = std::move(*node);
    parts_[k].full_before = 0;
  });
  count_slots();
  head_->issue_more();
  return {};
}

void WorldMachine::lose(std::size_t k) {
  const std::unique_ptr<EmulatedNode> lost = locks_[k]([&] {
    Part& part = parts_[k];
    part.memory_peak = std::max(part.memory_peak, part.node->observer().memory_peak());
    part.out_of_memory = part.out_of_memory || part.node->observer().out_of_memory();
    return std::move(part.node);
  });
  count_slots();
}

void WorldMachine::count_slots() {
  std::uint64_t slots = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    slots += locks_[k]([&] { return parts_[k].node ? parts_[k].node->slots() : 0U; });
  }
  slots_ = slots;
}

/// Loses the nodes that the events say are lost, and brings back those that are there again.
void WorldMachine::follow_events() {
  const std::vector<tuner::NodeModel> nodes = machine_.model().nodes;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (nodes[k].present == present(k)) continue;
    if (!nodes[k].present) {
      lose(k);
    } else if (auto status = bring_back(k); !status) {
      failure_ = status.error();
    }
  }
}

double WorldMachine::next_event() const {
  for (const tuner::ModelEvent& event : model_.events) {
    if (event.present && event.at_seconds > now()) return event.at_seconds;
  }
  return std::numeric_limits<double>::infinity();
}

void WorldMachine::run_until(double seconds) {
  while (!out_of_memory() && !failure_) {
    follow_events();
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      // A lower limit may have come into force.
      locks_[k]([&] {
        if (parts_[k].node) parts_[k].node->observer().look();
      });
    }
    count_slots();
    head_->report();
    const double left = seconds - now();
    if (left <= 0) return;
    machine_.wait_until(std::min(now() + std::min(left, kTick), next_event()));
  }
}

bool WorldMachine::present(std::size_t k) const {
  return locks_[k]([&] { return parts_[k].node != nullptr; });
}

tuner::CurrentState WorldMachine::current_of(std::size_t k) const {
  tuner::CurrentState current = locks_[k]([&] {
    const Part& part = parts_[k];
    if (part.node) return part.node->observer().current();
    return tuner::CurrentState{.limits = machine_.limits(k),
                               .actors = part.wanted.actors,
                               .leaving = std::vector<std::uint32_t>(part.wanted.actors.size(), 0)};
  });
  // With order every split that was issued gets its place, even if the prefetch is cut meanwhile.
  if (k == own_) current.prefetched = std::max(current.prefetched, head_->issued());
  return current;
}

tuner::Observation WorldMachine::observe_lost(std::size_t k) const {
  tuner::Observation none{
      .at_seconds = now(), .seconds = now() - parts_[k].observed_at, .limits = machine_.limits(k)};
  for (const std::uint32_t actors : parts_[k].wanted.actors) {
    none.stages.push_back({.actors = actors});
  }
  return none;
}

// On a node without the trainer the consumer is busy while an actor waits to hand over.
void WorldMachine::add_consumer(std::size_t k, tuner::Observation& seen) {
  Part& part = parts_[k];
  const ModelledTrainer::Totals own = trainer_.totals_of(k);
  seen.trainer_steps = own.trained - part.trained_before.trained;
  if (k == own_) {
    const ModelledTrainer::Totals all = trainer_.totals();
    seen.trainer_step_seconds = own.step_seconds - part.trained_before.step_seconds;
    seen.trainer_wait_seconds = all.wait_seconds - part.trained_before.wait_seconds;
    part.trained_before = {own.trained, own.step_seconds, all.wait_seconds};
    const double paused =
        tuner::paused_between(model_, seen.at_seconds - seen.seconds, seen.at_seconds);
    seen.seconds = std::max(0.0, seen.seconds - paused);
    return;
  }
  part.trained_before = own;
  if (!part.node) return;
  const double full = part.node->full_seconds();
  seen.trainer_step_seconds = full - std::exchange(part.full_before, full);
  seen.trainer_wait_seconds = std::max(0.0, seen.seconds - seen.trainer_step_seconds);
}

tuner::Observation WorldMachine::observe_node(std::size_t k) {
  return locks_[k]([&] {
    Part& part = parts_[k];
    tuner::Observation seen = part.node ? part.node->observer().observe() : observe_lost(k);
    add_consumer(k, seen);
    part.observed_at = seen.at_seconds;
    return seen;
  });
}

void WorldMachine::apply_to(std::size_t k, const tuner::Allocation& allocation) {
  if (out_of_memory()) return;
  locks_[k]([&] {
    parts_[k].wanted = allocation;
    if (parts_[k].node) parts_[k].node->apply(allocation);
  });
  count_slots();
}

void WorldMachine::set_fed(std::size_t k, bool fed) {
  locks_[k]([&] {
    parts_[k].fed = fed;
    if (parts_[k].node) parts_[k].node->set_fed(fed);
  });
  count_slots();
}

tuner::PipelineDescription WorldMachine::description_of(std::size_t k) const {
  const std::size_t beside = std::min(threads_beside(nodes()), kMostThreads);
  const std::size_t each = std::max((kMostThreads - beside) / nodes(), model_.stages.size());
  tuner::PipelineDescription description = tuner::node_description(model_, k);
  description.max_actors = static_cast<std::uint32_t>(each);
  return description;
}

void WorldMachine::apply(const tuner::Allocation& allocation) {
  for (std::size_t k = 0; k < nodes(); ++k) {
    apply_to(k, tuner::part_of_node(allocation, model_, k));
  }
}

tuner::CurrentState WorldMachine::current() const {
  tuner::CurrentState whole{.limits = {.cpus = 0}};
  for (std::size_t k = 0; k < nodes(); ++k) tuner::add_node(current_of(k), k == own_, whole);
  return whole;
}

tuner::Observation WorldMachine::observe() {
  tuner::Observation whole{.limits = {.cpus = 0}};
  for (std::size_t k = 0; k < nodes(); ++k) tuner::add_node(observe_node(k), k == own_, whole);
  return whole;
}

double WorldMachine::paused_seconds() const { return tuner::paused_between(model_, 0, now()); }

tuner::SimTotals WorldMachine::totals() const {
  const ModelledTrainer::Totals done = trained();
  tuner::SimTotals totals{.seconds = now(),
                          .trained = done.trained,
                          .trainer_wait_seconds = done.wait_seconds,
                          .out_of_memory = out_of_memory()};
  for (std::size_t k = 0; k < nodes(); ++k) {
    const tuner::NodeTotals part = totals_of(k);
    totals.cpu_seconds += part.cpu_seconds;
    totals.memory_peak = std::max(totals.memory_peak, part.memory_peak);
  }
  return totals;
}

tuner::NodeTotals WorldMachine::totals_of(std::size_t k) const {
  const std::vector<double> used = machine_.cpu_seconds();
  tuner::NodeTotals totals{.trained = trainer_.totals_of(k).trained};
  for (std::size_t i = 0; i < model_.stages.size(); ++i) {
    totals.cpu_seconds += used[k * model_.stages.size() + i];
  }
  locks_[k]([&] {
    const Part& part = parts_[k];
    totals.memory_peak = part.memory_peak;
    totals.out_of_memory = part.out_of_memory;
    if (!part.node) return;
    totals.memory_peak = std::max(totals.memory_peak, part.node->observer().memory_peak());
    totals.out_of_memory = totals.out_of_memory || part.node->observer().out_of_memory();
  });
  return totals;
}

bool WorldMachine::out_of_memory() const {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const bool out = locks_[k]([&] {
      const Part& part = parts_[k];
      return part.out_of_memory || (part.node && part.node->observer().out_of_memory());
    });
    if (out) return true;
  }
  return false;
}

std::optional<Error> WorldMachine::failure() const {
  if (failure_) return failure_;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    auto failed = locks_[k](
        [&] { return parts_[k].node ? parts_[k].node->failure() : std::optional<Error>(); });
    if (failed) return failed;
  }
  return std::nullopt;
}

}  // namespace forebay
