#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_result.h"

namespace forebay {

struct RanksBenchOptions {
  std::string program;  ///< forebay itself, for whole jobs.
  std::string folder;   ///< Made-up Criteo files, and room for a job file; "": no whole jobs.
  int rounds = 5;
  bool small_network = false;         ///< The default MLPs, not those published for Criteo.
  std::size_t batch_rows = 8192;      ///< Of a global batch.
  std::int64_t table_rows = 1 << 16;  ///< Of each of 26 tables; a power of two.
  std::uint64_t steps = 8;            ///< Counted, of each round.
  std::function<bool()> stopped = [] { return false; };
};

/// What a second trainer brings on a second CPU, both with one thread and on halves of the same
/// batches, tables shared out between them, over Gloo:
///
///   ranks_2           rows/s of two against one; batches are there already
///   ranks_2_of_apart  rows/s of two against what two make that know nothing of each other, each
///                     with a whole model and batches of half the size: the most that this machine
///                     gives two
///   ranks_2_job       rows/s of `forebay train` with two ranks against one, pipeline and all, the
///                     same job file on all CPUs
///
/// Each trainer is a process; interleaved, medians. Call it before any thread is started.
Result<std::vector<BenchResult>> run_ranks_bench(const RanksBenchOptions& options);

}  // namespace forebay
