#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::tuner {

/// One split in one actor, from the moment it is taken until its work is done. Belongs to the
/// actor; a VirtualMachine fills in the second half. Times in seconds since the machine's start.
struct WorkItem {
  static constexpr std::size_t kStartUp = static_cast<std::size_t>(-1);
  static constexpr std::size_t kLink = static_cast<std::size_t>(-2);

  /// One past the last stage: the trainer; kStartUp: an actor's start; kLink: the split crosses the
  /// link of its node.
  std::size_t stage = 0;
  std::size_t node = 0;
  std::uint32_t actors = 1;  ///< Alive in the stage at the begin, including this one.
  double begin = 0;          ///< When the split was taken.

  double cpu_seconds = 0;   ///< CPU time needed.
  double wait_seconds = 0;  ///< Wait for disk or network, including a rate limit.
  double end = 0;           ///< When the work is done.

  double seconds() const { return end - begin; }
  /// Time spent waiting for a CPU.
  double ready_seconds() const { return seconds() - cpu_seconds - wait_seconds; }
};

}  // namespace forebay::tuner
