#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_result.h"

namespace forebay {

struct ThreadsBenchOptions {
  std::string program;  ///< forebay itself; each run is a process of its own.
  std::string folder;   ///< Made-up Criteo files, and room for a job file.
  int cpus = 2;
  int rounds = 3;
  int epochs = 1;  ///< Of each run: long enough for a search to be a small part of it.
  std::function<bool()> stopped;
};

/// A model that shares the CPUs with its pipeline: the default number of threads against threads
/// that are searched for while it trains, one thread fewer and one more. Three jobs: a small model,
/// a large model, and costly transforms. Interleaved; medians of rows/s. Writes the rate of each
/// run to stderr.
Result<std::vector<BenchResult>> run_threads_bench(const ThreadsBenchOptions& options);

}  // namespace forebay
