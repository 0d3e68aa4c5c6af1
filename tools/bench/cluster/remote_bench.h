#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_data.h"

namespace forebay {

/// The amount of data.
struct RemoteBenchOptions {
  int rounds = 3;
  std::uint64_t rows = 500'000;  ///< Rows of the data, which is read again in each epoch.
  std::uint64_t epochs = 20;
  std::string program;                                   ///< forebay itself.
  std::function<bool()> stopped = [] { return false; };  ///< Called between two runs.
};

/// Measures the cost of stages in another process, on Criteo rows and their usual transforms:
///
/// `bytes_per_row`: bytes of a row as a worker packs it, compared with 64-bit ids and 32-bit
/// lengths. `remote_cpu_per_row`: CPU of an `ingest` and the one worker that makes all its splits,
/// minus that of the same `ingest` alone, in ns a row; the limit is the CPU of two processes that
/// move the same bytes with ZeroMQ alone. Medians of interleaved runs; includes start-up. Forks:
/// call it while no other thread exists.
Result<std::vector<BenchResult>> run_remote_bench(const RemoteBenchOptions& options,
                                                  const Clock& clock);

}  // namespace forebay
