#include "tuner/world/shared_speeds.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::tuner {
namespace {

// Sums of doubles that go up and down leave about this much behind.
constexpr double kRounding = 1e-12;

}  // namespace

SharedSpeeds::SharedSpeeds(const std::vector<Resource>& resources,
                           const std::vector<double>& cpus) {
  for (const Resource& resource : resources) resources_.emplace_back().given = resource;
  for (const double number : cpus) nodes_.emplace_back().cpus = number;
}

void SharedSpeeds::add_line(std::size_t node, double cpu, std::vector<Use> uses) {
  const std::size_t line = lines_.size();
  if (nodes_[node].end == 0) nodes_[node].first = line;
  nodes_[node].end = line + 1;
  for (const Use& use : uses) resources_[use.resource].users.push_back(line);
  lines_.push_back({.node = node, .cpu = cpu, .uses = std::move(uses), .now = {.cpu = cpu}});
}

void SharedSpeeds::change(std::size_t index, std::int64_t by, double per_second) {
  Line& line = lines_[index];
  line.busy += by;
  line.per_second = line.busy == 0 ? 0 : line.per_second + per_second;
  nodes_[line.node].changed = true;
  for (const Use& use : line.uses) resources_[use.resource].changed = true;
  changed_ = true;
}

void SharedSpeeds::set_cpus(std::size_t node, double cpus) {
  nodes_[node].cpus = cpus;
  nodes_[node].changed = changed_ = true;
}

void SharedSpeeds::set_rate(std::size_t resource, double rate) {
  resources_[resource].given.rate = rate;
  resources_[resource].changed = changed_ = true;
}

const std::vector<std::size_t>& SharedSpeeds::update() {
  faster_or_slower_.clear();
  if (!changed_) return faster_or_slower_;
  changed_ = false;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    if (resources_[i].changed) share_resource(i);
  }
  for (Node& node : nodes_) {
    if (node.changed) share_node(node);
  }
  return faster_or_slower_;
}

void SharedSpeeds::share_resource(std::size_t index) {
  State& state = resources_[index];
  state.changed = false;
  double asked = 0;
  for (const std::size_t user : state.users) {
    const Line& line = lines_[user];
    for (const Use& use : line.uses) {
      if (use.resource == index) asked += use.units * line.per_second;
    }
  }
  const bool enough = asked <= state.given.rate * (1 + kRounding);
  const double share = enough ? 1 : state.given.rate / asked;
  if (share == state.share) return;
  state.share = share;
  for (const std::size_t user : state.users) nodes_[lines_[user].node].changed = true;
}

void SharedSpeeds::share_node(Node& node) {
  node.changed = false;
  for (std::size_t i = node.first; i < node.end; ++i) {
    Line& line = lines_[i];
    double stall = 1;
    line.share = 1;
    for (const Use& use : line.uses) {
      const State& resource = resources_[use.resource];
      double& least = resource.given.stalls_cpu ? stall : line.share;
      least = std::min(least, resource.share);
    }
    const double busy = line.cpu + 1 / stall - 1;
    if (busy == line.now.cpu) continue;
    line.now.cpu = busy;
    line.now.speed = -1;  // What it shows has changed, even if it is as fast as before.
  }
  node.stretch = fitting_stretch(node);
  for (std::size_t i = node.first; i < node.end; ++i) {
    Line& line = lines_[i];
    const double slowness = 1 - line.cpu + line.now.cpu * node.stretch;
    const Speed now{
        .speed = std::min(line.share, 1 / slowness), .cpu = line.now.cpu, .stretch = node.stretch};
    if (now == line.now) continue;
    line.now = now;
    faster_or_slower_.push_back(i);
  }
}

double SharedSpeeds::busy_at(const Node& node, double stretch) const {
  double used = 0;
  for (std::size_t i = node.first; i < node.end; ++i) {
    const Line& line = lines_[i];
    if (line.busy == 0) continue;
    const double slowness = 1 - line.cpu + line.now.cpu * stretch;
    used += static_cast<double>(line.busy) * line.now.cpu * std::min(line.share, 1 / slowness);
  }
  return used;
}

// Newton's method for 1/use(f) = 1/cpus, which is almost a straight line between the points where a
// line's other resources stop being its limit; where a step leaves the bracket, its middle.
double SharedSpeeds::fitting_stretch(const Node& node) const {
  if (busy_at(node, 1) <= node.cpus * (1 + kRounding)) return 1;
  double low = 1;
  double high = 2;
  while (busy_at(node, high) > node.cpus) {
    low = high;
    high *= 2;
  }
  double f = std::clamp(node.stretch, low, high);
  for (int i = 0; i < 60 && high - low > 1e-12 * low; ++i) {
    const double next = newton_step(node, f);
    const bool inside = next > low && next < high;
    const double before = std::exchange(f, inside ? next : (low + high) / 2);
    if (inside && std::abs(f - before) <= 1e-9 * f) break;
    (busy_at(node, f) > node.cpus ? low : high) = f;
  }
  return f;
}

double SharedSpeeds::newton_step(const Node& node, double stretch) const {
  double used = 0;
  double slope = 0;
  for (std::size_t i = node.first; i < node.end; ++i) {
    const Line& line = lines_[i];
    if (line.busy == 0) continue;
    const double c = line.now.cpu;
    const double speed = 1 / (1 - line.cpu + c * stretch);
    const double cpus = static_cast<double>(line.busy) * c * std::min(line.share, speed);
    used += cpus;
    if (speed < line.share) slope += cpus * c * speed;
  }
  return stretch + (used - node.cpus) * used / (node.cpus * slope);
}

}  // namespace forebay::tuner
