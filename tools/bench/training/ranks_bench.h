#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_data.h"

namespace forebay {

struct RanksBenchOptions {
  std::string program;  ///< forebay itself, for whole jobs.
  /// A folder with made-up Criteo files and space for a job file; "": no whole jobs.
  std::string folder;
  int rounds = 5;
  bool small_network = false;         ///< The default MLPs instead of those published for Criteo.
  std::size_t batch_rows = 8192;      ///< Rows of a global batch.
  std::int64_t table_rows = 1 << 16;  ///< Of each of 26 tables; a power of two.
  std::uint64_t steps = 8;            ///< Measured steps of each round.
  std::function<bool()> stopped = [] { return false; };
};

/// Measures the gain from a second trainer on a second CPU. Both have one thread and train on
/// halves of the same batches, with the tables divided between them, over Gloo:
///
///   ranks_2           rows/s of two, compared with one; batches are made beforehand
///   ranks_2_of_apart  rows/s of two, compared with two independent trainers, each with a whole
///                     model and batches of half the size: the most that this machine allows for
///                     two
///   ranks_2_job       rows/s of `forebay train` with two ranks, compared with one, pipeline
///                     included, with the same job file on all CPUs
///
/// Each trainer is a process; interleaved, medians. Call it before any thread is started.
Result<std::vector<BenchResult>> run_ranks_bench(const RanksBenchOptions& options);

}  // namespace forebay
