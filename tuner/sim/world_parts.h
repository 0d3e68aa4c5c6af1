#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace forebay::tuner {

/// Something that several actors share beside the CPUs: memory bandwidth, a disk, a file server, a
/// lock. Users slow each other down when together they ask for more than `rate`.
struct ResourceModel {
  std::string name = {};
  double rate = 0;                       ///< Units a second, for all users together.
  std::optional<std::size_t> node = {};  ///< Only actors of this node; empty: all nodes share it.

  /// Whether waiting for it looks like work on a CPU, as a core that stalls on memory does.
  bool stalls_cpu() const { return name.starts_with("dram") || name.starts_with("llc"); }
};

/// What a split of a stage needs of a resource, spread evenly over its time.
struct ResourceUse {
  std::string resource = {};  ///< Its name; on each node the resource of that name there.
  double units = 0;
  bool operator==(const ResourceUse&) const = default;
};

/// A share of splits takes a Pareto multiple (minimum 1) of the time.
struct TailModel {
  double share = 0;
  double shape = 1.5;
  bool operator==(const TailModel&) const = default;
};

/// Tails are drawn by a generator of their own, whose seed is that of the run and this: two
/// machines with one seed draw the same tails.
inline constexpr std::uint64_t kTails = 0x7461696c73;

/// A machine with the whole line of stages, its own actors, queues, memory and CPUs.
struct NodeModel {
  std::string name = {};
  double cpus = 1;
  std::uint64_t memory_bytes = 0;
  double seconds_factor = 1;  ///< A slower machine: 1.5.
  double link_rate = 0;       ///< Bytes a second to the trainer; 0: no limit.
  bool trainer = false;       ///< The trainer's own node: its splits cross no link.
  bool present = true;        ///< False while the node is lost.

  bool has_link() const { return !trainer && link_rate > 0; }
};

/// The trainer takes nothing for `seconds`, every `every` seconds from start to start.
struct PauseModel {
  double every = 0;
  double seconds = 0;
  bool operator==(const PauseModel&) const = default;
};

}  // namespace forebay::tuner
