#pragma once

#include <vector>

#include "actors/pipeline_spec.h"
#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"
#include "tools/bench/bench_data.h"
#include "trainer/model.h"
#include "trainer/train_bench.h"

namespace forebay {

struct IngestBenchOptions {
  const Dataset& dataset;
  const TransformPlan& plan;
  OrderSpec order;
  std::vector<std::uint32_t> actors;  ///< For each stage.
  int threads = 2;                    ///< Threads of the plain loop.
  int rounds = 5;                     ///< Each measures everything once; the figures are medians.
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

/// Measures decoding against copying the same bytes, each stage alone, and the whole pipeline
/// against the same pure functions in a plain loop on `threads` threads; all interleaved.
Result<std::vector<BenchResult>> bench_ingest(const IngestBenchOptions& options);

/// Trains `model` on the pipeline's batches and on one cached batch, in turns.
Result<TrainBench> bench_training_fed(const IngestBenchOptions& options, Model& model);

}  // namespace forebay
