#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_result.h"

namespace forebay {

/// How much work the head is given.
struct HeadBenchOptions {
  std::uint64_t splits = 300'000;
  std::uint64_t finished = 1'000'000;
  std::string folder;  ///< For the store that is recovered; on the disk that heads will use.
};

/// Splits a second that a head leases to so many workers, the trainer's node taking them at once:
/// the real HeadActor with its journal in memory, one actor a worker, and one for the split client,
/// in one process. Joining, heartbeats, Issue, Lease and Arrived are counted in; the wire is not.
double leases_per_second(std::uint64_t workers, std::uint64_t splits, const Clock& clock);

/// Seconds to open a head's store with so many finished splits, every second one, so that each is
/// a range of its own: the worst there is.
Result<double> store_recovery_seconds(std::uint64_t finished, const std::string& folder,
                                      const Clock& clock);

/// `head_leases` (100 workers) and `head_leases_1000`, splits/s; `store_recovery`, seconds.
Result<std::vector<BenchResult>> run_head_bench(const HeadBenchOptions& options,
                                                const Clock& clock);

}  // namespace forebay
