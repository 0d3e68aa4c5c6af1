#include "tuner/emulated/shared_work.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace forebay::tuner {
namespace {

SharedSpeeds speeds_on(const PipelineModel& model) {
  std::vector<SharedSpeeds::Resource> resources;
  for (const ResourceModel& each : model.resources) {
    resources.push_back({.rate = each.rate, .stalls_cpu = each.stalls_cpu()});
  }
  SharedSpeeds speeds(resources, {model.cpus});
  for (const StageModel& stage : model.stages) {
    std::vector<SharedSpeeds::Use> uses;
    for (const ResourceUse& use : stage.uses) {
      for (std::size_t r = 0; r < model.resources.size(); ++r) {
        if (model.resources[r].name == use.resource) uses.push_back({r, use.units});
      }
    }
    speeds.add_line(0, stage.cpu, std::move(uses));
  }
  return speeds;
}

}  // namespace

SharedWork::SharedWork(const PipelineModel& model)
    : speeds_(speeds_on(model)), lines_(model.stages.size()) {
  for (std::size_t i = 0; i < lines_.size(); ++i) lines_[i].speed = speeds_.of(i);
}

void SharedWork::start(WorkItem& work, double seconds, double at, double now) {
  advance(now);
  Line& line = lines_[work.stage];
  // A thread that woke late has its work progress as if it had begun in time.
  const double late = std::clamp((now - at) * line.speed.speed, 0.0, seconds);
  line.used += late * line.speed.cpu;
  line.running.push({.end = line.clock + seconds - late,
                     .work = &work,
                     .seconds = seconds,
                     .cpu = line.cpu - late * line.speed.cpu,
                     .ready = line.ready - late * line.speed.cpu * (line.speed.stretch - 1)});
  speeds_.begin(work.stage, seconds);
  take_over_speeds();
}

void SharedWork::set(const PipelineModel& model, double now) {
  advance(now);
  speeds_.set_cpus(0, model.cpus);
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
  speeds_.end(work.stage, ended.seconds);
  take_over_speeds();
  return work;
}

}  // namespace forebay::tuner
