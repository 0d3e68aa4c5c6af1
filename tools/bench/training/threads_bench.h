#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_data.h"

namespace forebay {

struct ThreadsBenchOptions {
  std::string program;  ///< forebay itself; each run is a process of its own.
  std::string folder;   ///< A folder with made-up Criteo files and space for a job file.
  int cpus = 2;
  int rounds = 3;
  int epochs = 1;  ///< Of each run; enough epochs that a search takes a small part of the run.
  std::function<bool()> stopped;
};

/// Measures a model that shares the CPUs with its pipeline: the default number of threads, compared
/// with a number that is searched for during training, with one thread fewer and one more. Three
/// jobs: a small model, a large model, and expensive transforms. Interleaved; medians of rows/s.
/// Writes the rate of each run to stderr.
Result<std::vector<BenchResult>> run_threads_bench(const ThreadsBenchOptions& options);

}  // namespace forebay
