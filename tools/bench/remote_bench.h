#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_result.h"

namespace forebay {

/// How much is ingested.
struct RemoteBenchOptions {
  int rounds = 3;
  std::uint64_t rows = 500'000;  ///< Of the data, which is read again each epoch.
  std::uint64_t epochs = 20;
  std::string program;                                   ///< forebay itself.
  std::function<bool()> stopped = [] { return false; };  ///< Asked between two runs.
};

/// What it costs to have the stages in another process, on Criteo rows and their usual transforms:
///
/// `bytes_per_row`: a row as a worker packs it, against ids of 64 bits with lengths of 32.
/// `remote_cpu_per_row`: CPU of an `ingest` and the one worker that makes all its splits, less that
/// of the same `ingest` alone, in ns a row; the limit is the CPU of two processes that move the
/// same bytes with ZeroMQ alone. Medians of runs in turn; start-up is counted in. Forks: call it
/// while no other thread lives.
Result<std::vector<BenchResult>> run_remote_bench(const RemoteBenchOptions& options,
                                                  const Clock& clock);

}  // namespace forebay
