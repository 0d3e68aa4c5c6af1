#include "tuner/sim/world_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::tuner {

WorldState::WorldState(const PipelineModel& file) : events_(file.events), now_(file) {
  now_.events.clear();
  if (now_.nodes.empty()) {
    now_.nodes.push_back({.cpus = file.cpus, .memory_bytes = file.memory_bytes, .trainer = true});
  }
  for (const StageModel& stage : file.stages) file_seconds_.push_back(stage.seconds);
}

void WorldState::move_to(double seconds) {
  moved_to_ = seconds;
  for (; events_seen_ < events_.size() && events_[events_seen_].at_seconds <= seconds;
       ++events_seen_) {
    move_ramps(events_[events_seen_].at_seconds);
    obey(events_[events_seen_]);
  }
  move_ramps(seconds);
}

double WorldState::next_change() const {
  double next = std::numeric_limits<double>::infinity();
  if (events_seen_ < events_.size()) next = events_[events_seen_].at_seconds;
  for (const Ramp& ramp : ramps_) {
    next = std::min({next, moved_to_ + kRampStep, ramp.begin + ramp.over});
  }
  return next;
}

void WorldState::obey(const ModelEvent& event) {
  if (event.stage) return obey_stage(event);
  if (event.node) return obey_node(event, *event.node);
  if (event.resource && event.rate) {
    for (std::size_t i = 0; i < now_.resources.size(); ++i) {
      if (now_.resources[i].name == *event.resource) {
        change(event, Key::kResourceRate, i, *event.rate);
      }
    }
    return;
  }
  for (std::size_t node = 0; node < now_.nodes.size(); ++node) obey_node(event, node);
  if (event.trainer_step_seconds) change(event, Key::kStep, 0, *event.trainer_step_seconds);
}

void WorldState::obey_stage(const ModelEvent& event) {
  if (event.seconds_factor) {
    change(event, Key::kStageSeconds, *event.stage,
           file_seconds_[*event.stage] * *event.seconds_factor);
  }
  if (event.max_rate) change(event, Key::kMaxRate, *event.stage, *event.max_rate);
}

void WorldState::obey_node(const ModelEvent& event, std::size_t node) {
  if (event.cpus) change(event, Key::kCpus, node, *event.cpus);
  if (event.memory_bytes) {
    change(event, Key::kMemory, node, static_cast<double>(*event.memory_bytes));
  }
  if (event.link_rate) change(event, Key::kLinkRate, node, *event.link_rate);
  if (event.seconds_factor) change(event, Key::kNodeSeconds, node, *event.seconds_factor);
  now_.nodes[node].present = event.present.value_or(now_.nodes[node].present);
}

void WorldState::change(const ModelEvent& event, Key key, std::size_t index, double to) {
  std::erase_if(ramps_, [&](const Ramp& ramp) { return ramp.key == key && ramp.index == index; });
  const double from = get(key, index);
  // From or to "no limit" there is no line.
  const bool unlimited = (key == Key::kMaxRate || key == Key::kLinkRate) && (from <= 0 || to <= 0);
  if (event.over_seconds <= 0 || unlimited) return set(key, index, to);
  ramps_.push_back({key, index, from, to, event.at_seconds, event.over_seconds});
}

void WorldState::move_ramps(double seconds) {
  for (const Ramp& ramp : ramps_) {
    const bool ended = ramp.begin + ramp.over <= seconds;
    const double share = std::clamp((seconds - ramp.begin) / ramp.over, 0.0, 1.0);
    set(ramp.key, ramp.index, ended ? ramp.to : std::lerp(ramp.from, ramp.to, share));
  }
  std::erase_if(ramps_, [&](const Ramp& ramp) { return ramp.begin + ramp.over <= seconds; });
}

double WorldState::get(Key key, std::size_t index) const {
  switch (key) {
    case Key::kStageSeconds:
      return now_.stages[index].seconds;
    case Key::kMaxRate:
      return now_.stages[index].max_rate;
    case Key::kCpus:
      return now_.nodes[index].cpus;
    case Key::kMemory:
      return static_cast<double>(now_.nodes[index].memory_bytes);
    case Key::kLinkRate:
      return now_.nodes[index].link_rate;
    case Key::kNodeSeconds:
      return now_.nodes[index].seconds_factor;
    case Key::kResourceRate:
      return now_.resources[index].rate;
    case Key::kStep:
      break;
  }
  return now_.trainer_step_seconds;
}

void WorldState::set(Key key, std::size_t index, double value) {
  switch (key) {
    case Key::kStageSeconds:
      now_.stages[index].seconds = value;
      return;
    case Key::kMaxRate:
      now_.stages[index].max_rate = value;
      return;
    case Key::kCpus:
      now_.nodes[index].cpus = value;
      return;
    case Key::kMemory:
      now_.nodes[index].memory_bytes = static_cast<std::uint64_t>(std::llround(value));
      return;
    case Key::kLinkRate:
      now_.nodes[index].link_rate = value;
      return;
    case Key::kNodeSeconds:
      now_.nodes[index].seconds_factor = value;
      return;
    case Key::kResourceRate:
      now_.resources[index].rate = value;
      return;
    case Key::kStep:
      now_.trainer_step_seconds = value;
      return;
  }
}

PipelineModel world_at(const PipelineModel& model, double seconds) {
  WorldState state(model);
  state.move_to(seconds);
  PipelineModel now = state.now();
  if (!model.nodes.empty()) return now;
  now.cpus = now.nodes.front().cpus;
  now.memory_bytes = now.nodes.front().memory_bytes;
  now.nodes.clear();
  return now;
}

}  // namespace forebay::tuner
