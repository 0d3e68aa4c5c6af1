#include <algorithm>
#include <functional>
#include <utility>

#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"

namespace forebay::tuner {

void WorldSimulator::run_until(double seconds) {
  while (!out_of_memory_) {
    const auto what =
        static_cast<std::size_t>(std::min_element(next_.begin(), next_.end()) - next_.begin());
    if (next_[what] > seconds || next_[what] == kNever) break;
    now_ = std::max(now_, next_[what]);
    happen(what);
  }
  now_ = std::max(now_, seconds);
}

void WorldSimulator::happen(std::size_t what) {
  if (what == kOutside) {
    happen_outside();
  } else if (what == kPause) {
    toggle_pause();
  } else if (what == kTrainer) {
    finish_training();
  } else if (what < links_at_) {
    finish(what - lines_at_);
  } else if (what < starts_at_) {
    cross(what - links_at_);
  } else if (what < startups_at_) {
    start_spaced(what - starts_at_);
  } else {
    end_startup(what - startups_at_);
  }
  settle();
}

void WorldSimulator::settle() {
  for (const std::size_t i : speeds_.update()) {
    lines_[i].advance(now_);
    lines_[i].set_speed(speeds_.of(i));
    foresee(i);
  }
}

void WorldSimulator::finish(std::size_t i) {
  LineState& line = lines_[i];
  line.advance(now_);
  const WorldService service = line.in_work.top();
  line.record(service, now_);
  line.in_work.pop();
  speeds_.end(i, service.work);
  foresee(i);
  ++steps_;
  if (put_out(i, service.number)) return release(i);
  if (is_last(line) && line.blocked.empty()) nodes_[line.node].full_time.up(at(line));
  line.blocked.push_back(service.number);
  line.blocked_time.up(at(line));
  if (is_last(line) && !nodes_[line.node].has_link) waiting_.push_back({line.node, false});
}

bool WorldSimulator::put_out(std::size_t i, std::uint64_t number) {
  LineState& line = lines_[i];
  if (is_last(line)) {
    const Node& node = nodes_[line.node];
    if (!node.has_link) return deliver({number, line.node});
    if (node.link.count() >= line.capacity) return false;
    put_on_link(line.node, number);
    return true;
  }
  LineState& next = lines_[i + 1];
  if (next.idle > 0) {
    --next.idle;
    next.idle_time.down(at(next));
    begin(i + 1, number);
    return true;
  }
  if (line.queue.size() >= line.capacity) return false;
  line.queue.push_back(number);
  line.queued_time.up(at(line));
  take_memory(line.node, line.bytes_out);
  return true;
}

bool WorldSimulator::deliver(const Made& made) {
  const bool awaited = !ordered_ || made.number == next_number_;
  if (doing_ == TrainerDoes::kWaits && awaited) {
    train(made);
    return true;
  }
  // With order every split that was started has its place.
  if (!ordered_ && prefetched_.size() >= capacity_) return false;
  prefetch(made);
  return true;
}

void WorldSimulator::prefetch(const Made& made) {
  LineState& line = lines_[last_line(own_)];
  prefetched_.push_back(made);
  if (ordered_) std::ranges::push_heap(prefetched_, Later());
  line.queued_time.up(at(line));
  take_memory(own_, line.bytes_out);
  if (prefetched_.size() == capacity_) ++counts_.prefetch_full;
}

void WorldSimulator::fill_prefetch() {
  while (!waiting_.empty() && prefetched_.size() < capacity_) {
    const Waiting first = waiting_.front();
    waiting_.pop_front();
    const std::size_t i = last_line(first.node);
    if (!first.crossed) {
      prefetch({take_blocked(i), first.node});
      release(i);
      continue;
    }
    Link& link = nodes_[first.node].link;
    const std::uint64_t number = link.crossed.front();
    link.crossed.pop_front();
    nodes_[first.node].memory.give(lines_[i].bytes_out);
    lines_[i].queued_time.down(at(lines_[i]));
    prefetch({number, first.node});
    unblock(i);
  }
}

std::uint64_t WorldSimulator::take_blocked(std::size_t i) {
  LineState& line = lines_[i];
  const std::uint64_t number = line.blocked.front();
  line.blocked.pop_front();
  line.blocked_time.down(at(line));
  if (is_last(line) && line.blocked.empty()) nodes_[line.node].full_time.down(at(line));
  return number;
}

void WorldSimulator::take_from(std::size_t i) {
  LineState& line = lines_[i];
  line.queue.pop_front();
  line.queued_time.down(at(line));
  nodes_[line.node].memory.give(line.bytes_out);
  unblock(i);
}

// A place behind the line's stage is free: the actor that waited longest for it goes on.
void WorldSimulator::unblock(std::size_t i) {
  LineState& line = lines_[i];
  if (line.blocked.empty()) return;
  if (behind(line) >= line.capacity) return;
  const std::uint64_t number = take_blocked(i);
  if (is_last(line)) {
    put_on_link(line.node, number);
  } else {
    line.queue.push_back(number);
    line.queued_time.up(at(line));
    take_memory(line.node, line.bytes_out);
  }
  release(i);
}

void WorldSimulator::release(std::size_t i) {
  LineState& line = lines_[i];
  if (line.leaving > 0) return leave(line);
  if (line.stage == 0 && !ordered_ && nodes_[line.node].fed) return begin(i, 0);
  if (line.stage > 0 && !lines_[i - 1].queue.empty()) {
    begin(i, lines_[i - 1].queue.front());
    return take_from(i - 1);
  }
  ++line.idle;
  line.idle_time.up(at(line));
  if (line.stage == 0) feed();
}

// Numbers go in order to free load actors: of several nodes to the one with the fewest splits in
// service.
void WorldSimulator::feed() {
  while (ordered_) {
    const std::uint64_t number = remade_.empty() ? fresh_number_ : remade_.front();
    if (number >= next_number_ + capacity_) return;
    const std::size_t chosen = least_busy_loader();
    if (chosen == nodes_.size()) return;
    if (remade_.empty()) {
      ++fresh_number_;
    } else {
      std::ranges::pop_heap(remade_, std::greater<>());
      remade_.pop_back();
    }
    LineState& line = lines_[line_at(chosen, 0)];
    --line.idle;
    line.idle_time.down(at(line));
    begin(line_at(chosen, 0), number);
  }
}

// One past the last node if no load actor is free.
std::size_t WorldSimulator::least_busy_loader() const {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t chosen = nodes_.size();
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (lines_[line_at(k, 0)].idle == 0 || !nodes_[k].fed) continue;
    std::size_t in_service = 0;
    for (std::size_t i = 0; i < stages_; ++i) in_service += lines_[line_at(k, i)].in_work.size();
    if (in_service >= fewest) continue;
    fewest = in_service;
    chosen = k;
  }
  return chosen;
}

// The load actors of a node that is fed again, and had nothing to load meanwhile.
void WorldSimulator::wake_loaders(std::size_t node) {
  if (ordered_) return feed();
  LineState& line = lines_[line_at(node, 0)];
  while (line.idle > 0) {
    --line.idle;
    line.idle_time.down(at(line));
    begin(line_at(node, 0), 0);
  }
}

void WorldSimulator::begin(std::size_t i, std::uint64_t number) {
  LineState& line = lines_[i];
  const double earliest = line.last_start + line.gap;
  if (line.gap > 0 && (earliest > now_ || !line.not_started.empty())) {
    line.not_started.push_back({now_, number});
    plan_start(i);
  } else {
    start(i, now_, number);
  }
}

void WorldSimulator::start_spaced(std::size_t i) {
  const LineState::Taken first = lines_[i].not_started.front();
  lines_[i].not_started.pop_front();
  start(i, first.at, first.number);
  plan_start(i);
}

void WorldSimulator::plan_start(std::size_t i) {
  const LineState& line = lines_[i];
  next_[starts_at_ + i] = kNever;
  if (!line.not_started.empty()) {
    next_[starts_at_ + i] = std::max(now_, line.last_start + line.gap);
  }
}

void WorldSimulator::start(std::size_t i, double taken, std::uint64_t number) {
  LineState& line = lines_[i];
  line.advance(now_);
  line.last_start = now_;
  const double work = line.drawn(normal_, tails_);
  line.in_work.push(line.clock + work, {.work = work,
                                        .taken = taken,
                                        .cpu = line.cpu_clock,
                                        .ready = line.ready_clock,
                                        .number = number,
                                        .actors = line.alive});
  speeds_.begin(i, work);
  foresee(i);
}

void WorldSimulator::end_startup(std::size_t i) {
  LineState& line = lines_[i];
  line.starting.pop_front();
  line.starting_time.down(at(line));
  next_[startups_at_ + i] = kNever;
  if (!line.starting.empty()) next_[startups_at_ + i] = line.starting.front();
  release(i);
}

bool WorldSimulator::take_next() {
  if (prefetched_.empty()) return false;
  if (ordered_ && prefetched_.front().number != next_number_) return false;
  if (ordered_) std::ranges::pop_heap(prefetched_, Later());
  const Made made = ordered_ ? prefetched_.back() : prefetched_.front();
  ordered_ ? prefetched_.pop_back() : prefetched_.pop_front();
  LineState& line = lines_[last_line(own_)];
  line.queued_time.down(at(line));
  nodes_[own_].memory.give(line.bytes_out);
  fill_prefetch();
  train(made);
  return true;
}

void WorldSimulator::train(const Made& made) {
  trainer_does(TrainerDoes::kWorks);
  in_training_ = made;
  next_[kTrainer] = now_ + step_seconds_;
  if (!ordered_) return;
  ++next_number_;
  feed();
}

void WorldSimulator::finish_training() {
  const double worked = now_ - doing_since_;
  ++counts_.steps;
  counts_.step_seconds += worked;
  Node& node = nodes_[in_training_.node];
  ++node.trained;
  node.step_seconds += worked;
  next_[kTrainer] = kNever;
  if (pausing_) return trainer_does(TrainerDoes::kPauses);
  if (take_next()) return;
  ++counts_.prefetch_empty;
  trainer_does(TrainerDoes::kWaits);
}

void WorldSimulator::trainer_does(TrainerDoes what) {
  counts_ = counts();
  doing_ = what;
  doing_since_ = now_;
}

void WorldSimulator::toggle_pause() {
  pausing_ = !pausing_;
  const double length = file_.pause->seconds;
  next_[kPause] += pausing_ ? length : file_.pause->every - length;
  if (doing_ == TrainerDoes::kWorks) return;
  trainer_does(pausing_ ? TrainerDoes::kPauses : TrainerDoes::kWaits);
  if (!pausing_) take_next();
}

void WorldSimulator::put_on_link(std::size_t k, std::uint64_t number) {
  advance_link(k);
  Link& link = nodes_[k].link;
  LineState& line = lines_[last_line(k)];
  link.crossing.push_back({link.clock + static_cast<double>(line.bytes_out), number});
  line.queued_time.up(at(line));
  take_memory(k, line.bytes_out);
  advance_link(k);
}

// Brings the link's clock up to now and foresees the next arrival.
void WorldSimulator::advance_link(std::size_t k) {
  Link& link = nodes_[k].link;
  const auto on_it = static_cast<double>(link.crossing.size());
  if (on_it > 0) link.clock += (now_ - link.since) * link.rate / on_it;
  link.since = now_;
  next_[links_at_ + k] = kNever;
  if (link.crossing.empty()) return;
  const double left = std::max(0.0, link.crossing.front().end - link.clock);
  next_[links_at_ + k] = now_ + left * on_it / link.rate;
}

void WorldSimulator::cross(std::size_t k) {
  advance_link(k);
  Link& link = nodes_[k].link;
  const std::uint64_t number = link.crossing.front().number;
  link.crossing.pop_front();
  advance_link(k);
  LineState& line = lines_[last_line(k)];
  if (!deliver({number, k})) {
    link.crossed.push_back(number);
    waiting_.push_back({k, true});
    return;
  }
  nodes_[k].memory.give(line.bytes_out);
  line.queued_time.down(at(line));
  unblock(last_line(k));
}

}  // namespace forebay::tuner
