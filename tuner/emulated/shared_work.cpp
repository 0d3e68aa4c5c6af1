#include "tuner/emulated/shared_work.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tuner/world/world_layout.h"
#include "tuner/world/world_speeds.h"

namespace forebay::tuner {
SharedWork::SharedWork(const PipelineModel& model)
    : stages_(model.stages.size()),
      speeds_(speeds_of(model)),
      lines_(nodes_of(model).size() * stages_) {
  for (std::size_t i = 0; i < lines_.size(); ++i) lines_[i].speed = speeds_.of(i);
}

void SharedWork::start(WorkItem& work, double seconds, double at, double now) {
  advance(now);
  Line& line = lines_[line_of(work)];
  speeds_.begin(line_of(work), seconds);
  take_over_speeds();
  // A thread that woke late has its work progress as if it had begun in time, unless others use the
  // CPUs or the resource that it needs.
  const bool is_free = line.speed.speed >= 1 && line.speed.stretch <= 1;
  const double late = is_free ? std::clamp(now - at, 0.0, seconds) : 0;
  line.used += late * line.speed.cpu;
  line.running.push({.end = line.clock + seconds - late,
                     .work = &work,
                     .seconds = seconds,
                     .cpu = line.cpu - late * line.speed.cpu,
                     .ready = line.ready});
}

void SharedWork::set(const PipelineModel& model, double now) {
  advance(now);
  const std::vector<NodeModel> nodes = nodes_of(model);
  for (std::size_t k = 0; k < nodes.size(); ++k) speeds_.set_cpus(k, nodes[k].cpus);
  for (std::size_t r = 0; r < model.resources.size(); ++r) {
    speeds_.set_rate(r, model.resources[r].rate);
  }
  take_over_speeds();
}

void SharedWork::take_over_speeds() {
  for (const std::size_t i : speeds_.update()) lines_[i].speed = speeds_.of(i);
}

double SharedWork::end_of(const Line& line) const {
  if (line.running.empty()) return std::numeric_limits<double>::infinity();
  return now_ + std::max(0.0, line.running.top().end - line.clock) / line.speed.speed;
}

double SharedWork::next_end() const {
  double next = std::numeric_limits<double>::infinity();
  for (const Line& line : lines_) next = std::min(next, end_of(line));
  return next;
}

void SharedWork::advance(double now) {
  const double passed = std::max(0.0, now - now_);
  for (Line& line : lines_) {
    const double done = passed * line.speed.speed;
    line.clock += done;
    line.cpu += done * line.speed.cpu;
    line.ready += done * line.speed.cpu * (line.speed.stretch - 1);
    line.used += static_cast<double>(line.running.size()) * done * line.speed.cpu;
  }
  now_ = std::max(now_, now);
}

void SharedWork::drop(std::size_t node, std::vector<WorkItem*>& dropped) {
  for (std::size_t i = node * stages_; i < (node + 1) * stages_; ++i) {
    for (auto& running = lines_[i].running; !running.empty(); running.pop()) {
      speeds_.end(i, running.top().seconds);
      dropped.push_back(running.top().work);
    }
  }
  take_over_speeds();
}

WorkItem& SharedWork::pop(double now) {
  advance(now);
  const auto next =
      std::ranges::min_element(lines_, {}, [this](const Line& line) { return end_of(line); });
  const Running ended = next->running.top();
  next->running.pop();
  WorkItem& work = *ended.work;
  work.end = now;
  work.cpu_seconds = next->cpu - ended.cpu;
  work.wait_seconds = work.seconds() - work.cpu_seconds - (next->ready - ended.ready);
  speeds_.end(line_of(work), ended.seconds);
  take_over_speeds();
  return work;
}

}  // namespace forebay::tuner
