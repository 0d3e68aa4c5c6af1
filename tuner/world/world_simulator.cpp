#include "tuner/world/world_simulator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "tuner/world/world_layout.h"
#include "tuner/world/world_sums.h"

namespace forebay::tuner {

WorldMaker simulated_worlds() {
  return
      [](const PipelineModel& model, std::uint64_t seed) -> Result<std::unique_ptr<ModelledWorld>> {
        return std::make_unique<WorldSimulator>(model, seed);
      };
}

std::unique_ptr<ModelledPipeline> simulator_for(const PipelineModel& model, std::uint64_t seed) {
  if (is_world(model)) return std::make_unique<WorldSimulator>(model, seed);
  return std::make_unique<Simulator>(model, seed);
}

PipelineDescription WorldSimulator::description_of(std::size_t node) const {
  return node_description(file_, node);
}

void WorldSimulator::apply(const Allocation& allocation) {
  if (out_of_memory_) return;
  for (std::size_t i = 0; i < lines_.size(); ++i) resize(i, allocation.actors[i], false);
  set_prefetch(std::max(1U, allocation.prefetch));
  for (std::size_t i = 0; i < lines_.size(); ++i) resize(i, allocation.actors[i], true);
  settle();
}

void WorldSimulator::apply_to(std::size_t node, const Allocation& allocation) {
  if (out_of_memory_) return;
  for (std::size_t i = 0; i < stages_; ++i) {
    resize(line_at(node, i), allocation.actors[i], false);
  }
  if (node == own_) set_prefetch(std::max(1U, allocation.prefetch));
  for (std::size_t i = 0; i < stages_; ++i) resize(line_at(node, i), allocation.actors[i], true);
  settle();
}

void WorldSimulator::set_fed(std::size_t node, bool fed) {
  if (std::exchange(nodes_[node].fed, fed) == fed || !fed || out_of_memory_) return;
  wake_loaders(node);
  settle();
}

CurrentState WorldSimulator::current_of(std::size_t node) const {
  CurrentState current;
  current.limits = nodes_[node].limits;
  for (std::size_t i = 0; i < stages_; ++i) {
    const LineState& line = lines_[line_at(node, i)];
    current.actors.push_back(nodes_[node].present ? line.staying() : line.wanted);
    current.leaving.push_back(line.leaving);
  }
  current.memory_bytes = nodes_[node].memory.used();
  if (node != own_) return current;
  current.prefetch = capacity_;
  current.prefetched = static_cast<std::uint32_t>(places_taken());
  return current;
}

// With order every split that was started has its place, and gets there even if the queue has been
// cut meanwhile: a guard that counted only what has arrived would let actors grow into that memory.
std::uint64_t WorldSimulator::places_taken() const {
  return ordered_ ? fresh_number_ - next_number_ - remade_.size() : prefetched_.size();
}

CurrentState WorldSimulator::current() const {
  CurrentState whole{.limits = {.cpus = 0}};
  for (std::size_t k = 0; k < nodes_.size(); ++k) add_node(current_of(k), k == own_, whole);
  return whole;
}

WorldSimulator::TrainerCounts WorldSimulator::counts() const {
  TrainerCounts sums = counts_;
  if (doing_ == TrainerDoes::kWaits) sums.wait_seconds += now_ - doing_since_;
  if (doing_ == TrainerDoes::kPauses) sums.pause_seconds += now_ - doing_since_;
  return sums;
}

void WorldSimulator::finish_observation(Observation& seen, const TrainerCounts& since) const {
  const TrainerCounts sums = counts();
  seen.at_seconds = now_;
  seen.seconds = std::max(0.0, seen.seconds - (sums.pause_seconds - since.pause_seconds));
  seen.trainer_steps = sums.steps - since.steps;
  seen.trainer_step_seconds = sums.step_seconds - since.step_seconds;
  seen.trainer_wait_seconds = sums.wait_seconds - since.wait_seconds;
  seen.prefetch = capacity_;
  seen.prefetch_full = sums.prefetch_full - since.prefetch_full;
  seen.prefetch_empty = sums.prefetch_empty - since.prefetch_empty;
}

std::uint64_t WorldSimulator::behind(const LineState& line) const {
  if (!is_last(line)) return line.queue.size();
  if (line.node == own_) return prefetched_.size();
  return nodes_[line.node].link.count();
}

Observation WorldSimulator::observe_node(std::size_t k) {
  Node& node = nodes_[k];
  const double length = now_ - node.interval_start;
  Observation seen{.at_seconds = now_, .seconds = length, .limits = node.limits};
  for (std::size_t i = 0; i < stages_; ++i) {
    LineState& line = lines_[line_at(k, i)];
    line.advance(now_);
    foresee(line_at(k, i));
    seen.stages.push_back(line.observation(length, behind(line)));
    if (!node.present) seen.stages.back().actors = line.wanted;
    line.restart();
  }
  seen.prefetch_fill = seen.stages.back().queue_fill;
  seen.memory_bytes = node.memory.used();
  seen.memory_peak = node.memory.peak();
  node.memory.restart_peak();
  if (k == own_) finish_observation(seen, std::exchange(node.before, counts()));
  const double full = node.full_time.until(length, lines_[last_line(k)].blocked.empty() ? 0 : 1);
  seen.trainer_steps = node.trained - std::exchange(node.trained_before, node.trained);
  const double worked =
      node.step_seconds - std::exchange(node.step_seconds_before, node.step_seconds);
  seen.trainer_step_seconds = k == own_ ? worked : full;
  if (k != own_) seen.trainer_wait_seconds = std::max(0.0, length - full);
  node.full_time.restart();
  node.interval_start = now_;
  return seen;
}

Observation WorldSimulator::observe() {
  const double length = now_ - nodes_[own_].interval_start;
  Observation whole{.limits = {.cpus = 0}};
  for (std::size_t k = 0; k < nodes_.size(); ++k) add_node(observe_node(k), k == own_, whole);
  whole.seconds = length;
  finish_observation(whole, std::exchange(before_, counts()));
  return whole;
}

NodeTotals WorldSimulator::totals_of(std::size_t k) const {
  NodeTotals totals{.trained = nodes_[k].trained,
                    .memory_peak = nodes_[k].memory.peak_ever(),
                    .out_of_memory = nodes_[k].memory.exceeded()};
  for (std::size_t i = 0; i < stages_; ++i) {
    totals.cpu_seconds += lines_[line_at(k, i)].cpu_seconds(now_);
  }
  return totals;
}

SimTotals WorldSimulator::totals() const {
  SimTotals totals{.seconds = now_, .steps = steps_, .out_of_memory = out_of_memory_};
  totals.trained = counts_.steps;
  totals.trainer_wait_seconds = counts().wait_seconds;
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const NodeTotals part = totals_of(k);
    totals.cpu_seconds += part.cpu_seconds;
    totals.memory_peak = std::max(totals.memory_peak, part.memory_peak);
  }
  return totals;
}

}  // namespace forebay::tuner
