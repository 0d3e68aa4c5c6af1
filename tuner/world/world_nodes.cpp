#include <algorithm>
#include <functional>
#include <utility>

#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"
#include "tuner/world/world_speeds.h"

namespace forebay::tuner {

WorldSimulator::WorldSimulator(const PipelineModel& model, std::uint64_t seed,
                               const std::optional<Allocation>& first)
    : file_(model),
      state_(model),
      description_(world_description(model)),
      stages_(model.stages.size()),
      ordered_(model.stages.back().ordered),
      speeds_(speeds_of(state_.now())),
      normal_(seed),
      tails_(mix64(seed, kTails)),
      own_(trainer_node_of(model)),
      links_at_(lines_at_ + state_.now().nodes.size() * stages_),
      starts_at_(links_at_ + state_.now().nodes.size()),
      startups_at_(starts_at_ + state_.now().nodes.size() * stages_),
      next_(startups_at_ + state_.now().nodes.size() * stages_, kNever) {
  const PipelineModel& now = state_.now();
  for (std::size_t k = 0; k < now.nodes.size(); ++k) {
    nodes_.push_back(
        {.memory = MemoryAccount(now.base_bytes, now.nodes[k].memory_bytes),
         .limits = {.cpus = now.nodes[k].cpus, .memory_bytes = now.nodes[k].memory_bytes},
         .trainer = now.nodes[k].trainer});
    for (std::size_t i = 0; i < stages_; ++i) {
      lines_.emplace_back(now.stages[i], k, i).capacity = now.queue_splits;
      lines_.back().set_speed(speeds_.of(lines_.size() - 1));
    }
  }
  happen_outside();
  if (now.pause) next_[kPause] = now.pause->every;
  Allocation one = one_each(description_);
  one.prefetch = now.prefetch_splits;
  begin_with(first ? *first : one);
}

// With order, numbers are given out when there is a prefetch queue, to the actors of all nodes.
void WorldSimulator::begin_with(const Allocation& first) {
  for (std::size_t i = 0; i < lines_.size(); ++i) resize(i, first.actors[i], true);
  set_prefetch(std::max(1U, first.prefetch));
  settle();
}

void WorldSimulator::happen_outside() {
  state_.move_to(now_);
  refresh();
  enforce_memory();
  next_[kOutside] = state_.next_change();
  for (const Node& node : nodes_) {
    next_[kOutside] = std::min(next_[kOutside], node.memory.next_change());
  }
}

void WorldSimulator::refresh() {
  const PipelineModel& now = state_.now();
  step_seconds_ = now.trainer_step_seconds;
  for (std::size_t r = 0; r < now.resources.size(); ++r) {
    speeds_.set_rate(r, now.resources[r].rate);
  }
  for (LineState& line : lines_) refresh_line(line);
  for (std::size_t k = 0; k < nodes_.size(); ++k) refresh_node(k);
}

void WorldSimulator::refresh_line(LineState& line) {
  const StageModel& stage = state_.now().stages[line.stage];
  line.cost.seconds = stage.seconds * state_.now().nodes[line.node].seconds_factor;
  line.gap = stage.max_rate > 0 ? 1 / stage.max_rate : 0;
  line.update_mean();
  plan_start(line_at(line.node, line.stage));
}

void WorldSimulator::refresh_node(std::size_t k) {
  const NodeModel& now = state_.now().nodes[k];
  Node& node = nodes_[k];
  if (node.link.rate != now.link_rate) {
    advance_link(k);
    node.link.rate = now.link_rate;
    advance_link(k);
  }
  if (!node.has_link && now.has_link()) add_link(k);
  if (node.limits.cpus != now.cpus) speeds_.set_cpus(k, now.cpus);
  if (node.limits.memory_bytes != now.memory_bytes) node.memory.set_limit(now_, now.memory_bytes);
  node.limits = {.cpus = now.cpus, .memory_bytes = now.memory_bytes};
  if (node.present && !now.present) lose(k);
  if (!node.present && now.present) bring_back(k);
}

// What waited to hand over directly goes over the link, as far as it has room.
void WorldSimulator::add_link(std::size_t k) {
  nodes_[k].has_link = true;
  std::erase_if(waiting_, [k](const Waiting& each) { return each.node == k; });
  const LineState& last = lines_[last_line(k)];
  while (!last.blocked.empty() && behind(last) < last.capacity) unblock(last_line(k));
}

void WorldSimulator::enforce_memory() {
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    std::uint64_t leaving = 0;
    for (std::size_t i = 0; i < stages_; ++i) {
      const LineState& line = lines_[line_at(k, i)];
      leaving += line.leaving * line.bytes_per_actor;
    }
    if (nodes_[k].memory.next_change() > now_) continue;
    if (nodes_[k].memory.enforce(now_, leaving)) {
      for (std::size_t i = 0; i < stages_; ++i) {
        lines_[line_at(k, i)].exempt = lines_[line_at(k, i)].leaving;
      }
    }
    out_of_memory_ = out_of_memory_ || nodes_[k].memory.exceeded();
  }
}

void WorldSimulator::take_memory(std::size_t k, std::uint64_t bytes) {
  nodes_[k].memory.take(bytes);
  out_of_memory_ = out_of_memory_ || nodes_[k].memory.exceeded();
}

void WorldSimulator::lose(std::size_t k) {
  Node& node = nodes_[k];
  node.present = false;
  node.memory.give(node.memory.used());
  for (std::size_t i = 0; i < stages_; ++i) lose_line(line_at(k, i));
  advance_link(k);
  LineState& last = lines_[last_line(k)];
  for (std::size_t n = node.link.count(); n > 0; --n) last.queued_time.down(at(last));
  for (const Crossing& each : node.link.crossing) remade_.push_back(each.number);
  remade_.insert(remade_.end(), node.link.crossed.begin(), node.link.crossed.end());
  node.link.crossing.clear();
  node.link.crossed.clear();
  advance_link(k);
  std::erase_if(waiting_, [k](const Waiting& each) { return each.node == k; });
  if (!ordered_) return remade_.clear();
  std::ranges::make_heap(remade_, std::greater<>());
  feed();
}

void WorldSimulator::lose_line(std::size_t i) {
  LineState& line = lines_[i];
  const double when = at(line);
  line.advance(now_);
  for (; !line.in_work.empty(); line.in_work.pop()) {
    remade_.push_back(line.in_work.top().number);
    speeds_.end(i, line.in_work.top().work);
  }
  for (const LineState::Taken& each : line.not_started) remade_.push_back(each.number);
  line.not_started.clear();
  remade_.insert(remade_.end(), line.queue.begin(), line.queue.end());
  while (!line.blocked.empty()) remade_.push_back(take_blocked(i));
  for (; line.idle > 0; --line.idle) line.idle_time.down(when);
  for (; !line.starting.empty(); line.starting.pop_front()) line.starting_time.down(when);
  for (; !line.queue.empty(); line.queue.pop_front()) line.queued_time.down(when);
  nodes_[line.node].memory.give_exempt(std::exchange(line.exempt, 0) * line.bytes_per_actor);
  line.leaving = 0;
  line.set_alive(0, when);
  next_[starts_at_ + i] = next_[startups_at_ + i] = kNever;
  foresee(i);
}

void WorldSimulator::bring_back(std::size_t k) {
  nodes_[k].present = true;
  take_memory(k, file_.base_bytes);
  for (std::size_t i = 0; i < stages_; ++i) grow(line_at(k, i), lines_[line_at(k, i)].wanted);
}

void WorldSimulator::resize(std::size_t i, std::uint32_t wanted, bool growing) {
  LineState& line = lines_[i];
  line.wanted = std::max(1U, wanted);
  if (!nodes_[line.node].present) return;
  growing ? grow(i, line.wanted) : shrink(line, line.wanted);
}

void WorldSimulator::shrink(LineState& line, std::uint32_t wanted) {
  if (wanted >= line.staying()) return;
  std::uint32_t surplus = line.staying() - wanted;
  const std::uint32_t idle = std::min(surplus, line.idle);
  for (std::uint32_t k = 0; k < idle; ++k) line.idle_time.down(at(line));
  line.idle -= idle;
  surplus -= idle;
  // Those that have just begun to start up have no split to finish either.
  std::uint32_t starting = 0;
  for (; starting < surplus && !line.starting.empty(); ++starting) {
    line.starting.pop_back();
    line.starting_time.down(at(line));
  }
  if (line.starting.empty()) next_[startups_at_ + line_at(line.node, line.stage)] = kNever;
  remove_actors(line, idle + starting);
  line.leaving += surplus - starting;
}

void WorldSimulator::grow(std::size_t i, std::uint32_t wanted) {
  LineState& line = lines_[i];
  if (wanted <= line.staying()) return;
  line.leaving -= std::min(wanted - line.staying(), line.leaving);
  for (; line.exempt > line.leaving; --line.exempt) {
    nodes_[line.node].memory.give_exempt(line.bytes_per_actor);
  }
  const std::uint32_t fresh = wanted - line.staying();
  line.set_alive(wanted + line.leaving, at(line));
  take_memory(line.node, fresh * line.bytes_per_actor);
  for (std::uint32_t k = 0; k < fresh; ++k) {
    if (line.start_seconds <= 0) {
      release(i);
      continue;
    }
    line.starting.push_back(now_ + line.start_seconds);
    line.starting_time.up(at(line));
    next_[startups_at_ + i] = line.starting.front();
  }
}

void WorldSimulator::leave(LineState& line) {
  --line.leaving;
  remove_actors(line, 1);
  if (line.exempt == 0) return;
  --line.exempt;
  nodes_[line.node].memory.give_exempt(line.bytes_per_actor);
}

void WorldSimulator::remove_actors(LineState& line, std::uint32_t count) {
  line.set_alive(line.alive - count, at(line));
  nodes_[line.node].memory.give(count * line.bytes_per_actor);
}

void WorldSimulator::set_prefetch(std::uint32_t items) {
  capacity_ = items;
  lines_[last_line(own_)].capacity = items;
  fill_prefetch();
  feed();
}

}  // namespace forebay::tuner
