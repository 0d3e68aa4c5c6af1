#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::tuner {

/// How fast splits progress that share CPUs and resources.
///
/// A split that alone takes T seconds and needs u units of a resource asks for u / T units a second
/// of it. p = min(1, rate / asked), of each resource. For a split, d is the least p of the
/// resources that stall its core, q the least of the others; c = cpu + 1/d - 1 is the share of its
/// progress that looks busy; it progresses at v = min(q, 1 / (1 - cpu + c·f)), with f ≥ 1 the
/// smallest number, per node, that keeps Σ c·v within the node's CPUs. All splits of one stage on
/// one node, a *line*, have the same v. Without resources this is CpuShare's law.
class SharedSpeeds {
 public:
  struct Use {
    std::size_t resource = 0;
    double units = 0;
  };
  /// The state of a line.
  struct Speed {
    double speed = 1;    ///< v.
    double cpu = 1;      ///< c: busy CPUs a split, over v.
    double stretch = 1;  ///< f of the node.
    bool operator==(const Speed&) const = default;
  };
  struct Resource {
    double rate = 0;
    bool stalls_cpu = false;
  };

  SharedSpeeds(const std::vector<Resource>& resources, const std::vector<double>& cpus);

  /// Adds a line of a node; lines are numbered from 0. A node's lines follow one another.
  void add_line(std::size_t node, double cpu, std::vector<Use> uses);

  /// A split that takes `seconds` alone begins or ends in a line. Takes effect with update().
  void begin(std::size_t line, double seconds) { change(line, 1, 1 / seconds); }
  void end(std::size_t line, double seconds) { change(line, -1, -1 / seconds); }
  void set_cpus(std::size_t node, double cpus);
  void set_rate(std::size_t resource, double rate);

  /// Recomputes what changed; returns the lines of which the speed did.
  const std::vector<std::size_t>& update();
  const Speed& of(std::size_t line) const { return lines_[line].now; }

 private:
  struct Line {
    std::size_t node;
    double cpu;
    std::vector<Use> uses;
    std::int64_t busy = 0;
    double per_second = 0;  // Σ 1/T over its splits.
    double share = 1;       // q.
    Speed now = {};
  };
  struct Node {
    double cpus = 1;
    std::size_t first = 0;  // Of its lines.
    std::size_t end = 0;
    double stretch = 1;
    bool changed = false;
  };
  struct State {
    Resource given;
    std::vector<std::size_t> users;  // Lines.
    double share = 1;                // p.
    bool changed = false;
  };

  void change(std::size_t line, std::int64_t by, double per_second);
  void share_resource(std::size_t resource);
  void share_node(Node& node);
  double busy_at(const Node& node, double stretch) const;
  double fitting_stretch(const Node& node) const;
  double newton_step(const Node& node, double stretch) const;

  std::vector<State> resources_;
  std::vector<Node> nodes_;
  std::vector<Line> lines_;
  std::vector<std::size_t> faster_or_slower_;
  bool changed_ = false;
};

}  // namespace forebay::tuner
