#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_result.h"

namespace forebay {

/// How much work the emulated clusters do.
struct ClusterBenchOptions {
  int rounds = 3;
  std::uint32_t cpus = 32;                                         ///< Virtual ones, a node.
  std::chrono::nanoseconds split = std::chrono::milliseconds(64);  ///< On one of them.
  double seconds = 2;                                              ///< Measured, each time.
  std::function<bool()> stopped = [] { return false; };            ///< Asked between two clusters.
};

/// Splits a second that this many emulated workers bring: head, split client and workers are the
/// real ones, each worker with its own ZeroMQ socket on loopback, all in this process.
Result<double> emulated_splits_per_second(std::uint32_t workers, const ClusterBenchOptions& options,
                                          const Clock& clock);

/// Seconds from SIGKILL of a worker's process until another worker has begun the last of its
/// splits, at the default heartbeat and lease. Forks.
Result<double> death_to_reissue_seconds(const Clock& clock);

/// `scaling_2`, `scaling_4`, `scaling_8` (emulated; the limit is so many times one worker's rate)
/// and `death_to_reissue`. Medians. Forks: call it while no other thread lives.
Result<std::vector<BenchResult>> run_cluster_bench(const ClusterBenchOptions& options,
                                                   const Clock& clock);

}  // namespace forebay
