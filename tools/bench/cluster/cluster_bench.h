#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_data.h"

namespace forebay {

/// The amount of work for the emulated clusters.
struct ClusterBenchOptions {
  int rounds = 3;
  std::uint32_t cpus = 32;  ///< Virtual CPUs of each node.
  /// Time of a split on one virtual CPU.
  std::chrono::nanoseconds split = std::chrono::milliseconds(64);
  double seconds = 2;                                    ///< Length of each measurement.
  std::function<bool()> stopped = [] { return false; };  ///< Called between two clusters.
};

/// Returns the splits a second that `workers` emulated workers deliver. Head, split client and
/// workers are the real ones; each worker has its own ZeroMQ socket on loopback, all in this
/// process.
Result<double> emulated_splits_per_second(std::uint32_t workers, const ClusterBenchOptions& options,
                                          const Clock& clock);

/// Returns the seconds from SIGKILL of a worker's process until another worker has begun the last
/// of its splits, with the default heartbeat and lease. Forks.
Result<double> death_to_reissue_seconds(const Clock& clock);

/// Measures `scaling_2`, `scaling_4`, `scaling_8` (emulated; the limit is 2, 4 or 8 times one
/// worker's rate) and `death_to_reissue`. Medians. Forks: call it while no other thread exists.
Result<std::vector<BenchResult>> run_cluster_bench(const ClusterBenchOptions& options,
                                                   const Clock& clock);

}  // namespace forebay
