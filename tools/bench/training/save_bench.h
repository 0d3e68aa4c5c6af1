#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_data.h"
#include "trainer/spec.h"

namespace forebay {

struct SaveBenchOptions {
  std::string folder = ".";  ///< On the measured disk; a temporary file is written there.
  int rounds = 3;
  std::uint64_t steps = 100;  ///< Steps between two checkpoints.
  std::size_t batch_rows = 8192;
  /// Of each of 26 tables of dimension 32: 1 GiB with Adagrad.
  std::int64_t table_rows = 161320;
  int threads = 1;  ///< Threads of the model.
  std::function<bool()> stopped = [] { return false; };
};

/// Measures the cost of a checkpoint of a DLRM:
///
///   checkpoint_write     bytes/s of writing it until all is on the disk; compared with a plain
///                        sequential write and fsync of as many bytes
///   checkpoint_read      bytes/s of loading and checking it; compared with a plain read of as
///                        many bytes
///   checkpoint_overhead  seconds for `steps` steps with a checkpoint that begins at the first step
///                        and ends at the last; compared with as many steps without one
///
/// All past the page cache, so the disk's own speed counts. Interleaved; medians.
Result<std::vector<BenchResult>> bench_saving(const SaveBenchOptions& options, const Clock& clock);

}  // namespace forebay
