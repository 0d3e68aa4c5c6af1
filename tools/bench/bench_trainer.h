#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"
#include "tools/bench/wire_bench_process.h"
#include "trainer/collective.h"
#include "trainer/table_bench.h"

namespace forebay {

/// A DLRM that trains in a process of its own, on one CPU with one thread.
struct BenchTrainer {
  ZipfBatches::Options batches;  ///< Whole ones, made before any step.
  bool small_network = false;    ///< The default MLPs, not those published for Criteo.
  CollectiveSpec ranks;          ///< With more than one it trains on its share of each batch.
  int place = 0;                 ///< Which of the CPUs.
};

/// Starts it; it ends with what is returned.
Result<WireBenchProcess> start_trainer(const BenchTrainer& trainer);

/// Returns when it has trained a few steps, which are not counted; all of its ranks have to be
/// started before.
Status wait_until_it_stands(const WireBenchProcess& trainer);

/// Has it train `steps` steps; the seconds that they took, or why they were not trained.
void begin_steps(const WireBenchProcess& trainer, std::uint64_t steps);
Result<double> finish_steps(const WireBenchProcess& trainer);

}  // namespace forebay
