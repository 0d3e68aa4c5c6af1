#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_data.h"

namespace forebay {

struct TableBenchRun {
  std::int64_t table_rows = 0;  ///< Of each of 26 tables; a power of two.
  std::uint64_t rounds = 3;
  bool small_network = false;  ///< The default MLPs instead of those published for Criteo.
};

/// Measures tables of dimension 32 that need 20 times their memory limit, compared with tables in
/// memory, on batches of 8192 rows with one model thread: with every row on the disk, and with most
/// rows looked up for the first time. Prints on stderr where it writes.
Result<std::vector<BenchResult>> run_table_bench(const TableBenchRun& run);

}  // namespace forebay
