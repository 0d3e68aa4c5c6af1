#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/actors/cluster/cluster_messages.h"

namespace forebay {

/// The CPUs and the memory that a node has announced, and what its actors need of them.
///
/// An account: nothing keeps an actor from using more. A value; belongs to one thread.
class NodeRoom {
 public:
  NodeRoom() = default;
  NodeRoom(std::uint64_t cpu_thousandths, std::uint64_t memory_bytes)
      : cpus_(cpu_thousandths), memory_(memory_bytes) {}

  void take(const ActorSpec& spec) {
    ++actors_;
    taken_cpus_ += spec.cpu_thousandths;
    taken_memory_ += spec.memory_bytes;
  }
  void give_back(const ActorSpec& spec) {
    --actors_;
    taken_cpus_ -= spec.cpu_thousandths;
    taken_memory_ -= spec.memory_bytes;
  }

  std::size_t actors() const { return actors_; }
  bool fits(const ActorSpec& spec) const {
    return taken_cpus_ + spec.cpu_thousandths <= cpus_ &&
           taken_memory_ + spec.memory_bytes <= memory_;
  }
  /// What the node lacks for this actor, such as "0.5 CPUs and 512 MiB".
  std::string missing(const ActorSpec& spec) const;

 private:
  std::uint64_t cpus_ = 0;  // in thousandths
  std::uint64_t memory_ = 0;
  std::uint64_t taken_cpus_ = 0;
  std::uint64_t taken_memory_ = 0;
  std::size_t actors_ = 0;
};

/// "2 CPUs and 512 MiB"; without what is 0. "nothing" if both are.
std::string format_needs(std::uint64_t cpu_thousandths, std::uint64_t memory_bytes);

}  // namespace forebay
