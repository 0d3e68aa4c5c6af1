#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"
#include "tools/bench/wire_bench_process.h"
#include "trainer/collective.h"
#include "trainer/table_bench.h"

namespace forebay {

/// A DLRM that trains in its own process, on one CPU with one thread.
struct BenchTrainer {
  ZipfBatches::Options batches;  ///< Whole batches, made before the first step.
  bool small_network = false;    ///< The default MLPs instead of those published for Criteo.
  CollectiveSpec ranks;          ///< With more than one rank, it trains on its share of each batch.
  int place = 0;                 ///< Index of its CPU.
};

/// Starts the trainer; it ends when the returned object is destroyed.
Result<WireBenchProcess> start_trainer(const BenchTrainer& trainer);

/// Waits until it has trained a few warm-up steps. All of its ranks must have been started before.
Status wait_until_it_stands(const WireBenchProcess& trainer);

/// Starts `steps` steps; finish_steps() returns the seconds that they took, or why they failed.
void begin_steps(const WireBenchProcess& trainer, std::uint64_t steps);
Result<double> finish_steps(const WireBenchProcess& trainer);

}  // namespace forebay
