#pragma once

#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_data.h"

namespace forebay {

/// The amount of work for the head.
struct HeadBenchOptions {
  std::uint64_t splits = 300'000;
  std::uint64_t finished = 1'000'000;
};

/// Returns the splits a second that a head leases to `workers` workers while the trainer's node
/// accepts them at once: the real HeadActor with its journal in memory, one actor for each worker
/// and one for the split client, in one process. Includes joins, heartbeats, Issue, Lease and
/// Arrived; excludes the network.
double leases_per_second(std::uint64_t workers, std::uint64_t splits, const Clock& clock);

/// Returns the seconds to open a head's store below TMPDIR with `finished` finished splits. Every
/// second split is finished, so that each is a range of its own: the worst case.
Result<double> store_recovery_seconds(std::uint64_t finished, const Clock& clock);

/// Measures `head_leases` (100 workers) and `head_leases_1000`, splits/s; `store_recovery`,
/// seconds.
Result<std::vector<BenchResult>> run_head_bench(const HeadBenchOptions& options,
                                                const Clock& clock);

}  // namespace forebay
