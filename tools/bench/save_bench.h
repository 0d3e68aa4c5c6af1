#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "tools/bench/bench_result.h"
#include "trainer/spec.h"

namespace forebay {

struct SaveBenchOptions {
  std::string folder = ".";  ///< On the disk that is measured; something is made and removed there.
  int rounds = 3;
  std::uint64_t steps = 100;  ///< Between two checkpoints.
  std::size_t batch_rows = 8192;
  std::int64_t table_rows = 161320;  ///< Of each of 26 tables of dimension 32: 1 GiB with Adagrad.
  int threads = 1;                   ///< Of the model.
  std::function<bool()> stopped = [] { return false; };
};

/// What a checkpoint of a DLRM costs:
///
///   checkpoint_write     bytes/s of writing it, until all is on the disk, against a plain
///   sequential
///                        write and fsync of as many bytes
///   checkpoint_read      bytes/s of loading and checking it, against plainly reading as many bytes
///   checkpoint_overhead  seconds for `steps` steps with a checkpoint begun at the first of them
///   and
///                        ended at the last, against as many steps without
///
/// All past the page cache, so the disk's own speed. Interleaved; medians.
Result<std::vector<BenchResult>> bench_saving(const SaveBenchOptions& options, const Clock& clock);

}  // namespace forebay
