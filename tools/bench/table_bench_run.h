#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_result.h"

namespace forebay {

struct TableBenchRun {
  std::int64_t table_rows = 0;  ///< Of each of 26 tables; a power of two.
  std::uint64_t rounds = 3;
  bool small_network = false;  ///< The default MLPs, not those published for Criteo.
};

/// Tables of dimension 32 that take 20 times the memory they are given, against the same in memory,
/// on batches of 8192 rows with one model thread: with every row on the disk, and with most met for
/// the first time. Says on stderr where it writes.
Result<std::vector<BenchResult>> run_table_bench(const TableBenchRun& run);

}  // namespace forebay
