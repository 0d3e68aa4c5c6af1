#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/pipeline.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "engine/process/machine.h"
#include "tools/bench/bench_setup.h"

namespace forebay {

/// Made-up Criteo rows and the transforms of the published figures: log1p on the integers,
/// sigrid_hash on the tokens.
struct UsualWork {
  BenchFolder data;
  std::unique_ptr<Dataset> dataset;
  TransformPlan plan;
  OrderSpec order = {};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

Result<UsualWork> usual_work(std::uint64_t rows);

/// The same in batches of `batch_size` rows (0: the default), with memory for them, and with epochs
/// for at least `batches` of them.
Result<UsualWork> usual_batches(std::uint64_t rows, std::size_t batch_size, std::uint64_t batches);

/// What one pipeline over that work needs, and the plain loop that it is compared with; the work
/// outlives it.
struct UsualRun {
  explicit UsualRun(const UsualWork& given);

  const UsualWork& work;
  const int cpus = available_cpus();
  MemoryBudget budget;
  BufferPool buffers{budget};
  EpochOrder order;
  std::vector<std::string> names;  ///< Of the files.
  SystemClock clock;
};

/// Starts the pipeline with an allocation that suits the machine's CPUs; `run` outlives it.
Result<std::unique_ptr<Pipeline>> start_pipeline(UsualRun& run);

}  // namespace forebay
