#include "tools/bench/bench_trainer.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/data/buffer_pool.h"
#include "core/data/memory_budget.h"
#include "engine/process/cpu_limit.h"
#include "engine/ranks/batch_slice.h"
#include "trainer/module.h"
#include "trainer/ranks/batch_divider.h"
#include "trainer/ranks/placement.h"

namespace forebay {
namespace {

constexpr std::uint64_t kBatches = 4;
constexpr std::uint64_t kAhead = 2;
constexpr std::uint64_t kSettle = 4;
constexpr const char* kStands = "stands";

using Batches = std::vector<std::shared_ptr<const Batch>>;

TrainerSpec spec_of(const BenchTrainer& trainer) {
  TrainerSpec spec;
  spec.threads = 1;
  spec.embedding_dim = 32;
  spec.max_table_rows = trainer.batches.table_rows;
  if (!trainer.small_network) {
    // Naumov et al. 2019, for the Criteo Kaggle data.
    spec.bottom_mlp = {512, 256, 64, 32};
    spec.top_mlp = {512, 256, 1};
  }
  return spec;
}

Result<std::unique_ptr<Model>> make_model_of(const BenchTrainer& trainer, Collective* ranks) {
  const TrainerSpec spec = spec_of(trainer);
  Schema schema;
  for (std::size_t i = 0; i < trainer.batches.dense; ++i) {
    schema.dense.push_back("I" + std::to_string(i));
  }
  for (std::size_t i = 0; i < trainer.batches.features; ++i) {
    schema.sparse.push_back({"C" + std::to_string(i), 0});
  }
  auto shape = shape_of(spec, schema);
  if (!shape) return pass(shape);
  return make_model(spec, *shape, ranks);
}

/// This rank's rows of the batches, and the ids that are prefetched for them.
struct Dealt {
  Batches rows;
  Batches expected;
};

Result<Dealt> make_batches(const BenchTrainer& trainer, BufferPool& pool) {
  const ZipfBatches whole(trainer.batches);
  const CollectiveSpec& ranks = trainer.ranks;
  const std::vector<std::int64_t> tables(trainer.batches.features, trainer.batches.table_rows);
  const TablePlacement placement =
      place_tables(tables, TrainerSpec::Tables().placement, ranks.size);
  BatchDivider divider(tables, shards_of_rank(placement, ranks.rank));
  Dealt made;
  made.rows.reserve(kBatches);
  made.expected.reserve(kBatches);
  for (std::uint64_t number = 0; number < kBatches; ++number) {
    const auto batch = whole.make(number);
    const auto [first, end] = rows_of_rank(batch->rows, ranks.rank, ranks.size);
    made.rows.push_back(slice_rows(*batch, first, end, pool));
    if (ranks.size == 1) {
      made.expected.push_back(made.rows.back());
      continue;
    }
    if (auto divided = divider.divide(*batch); !divided) return pass(divided);
    made.expected.push_back(copy_ids(divider.sharded(), pool));
  }
  return made;
}

Status take_steps(Model& model, const Dealt& batches, std::uint64_t steps) {
  std::uint64_t announced = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    // A few batches ahead only: batches are reused after kBatches.
    for (; announced < std::min(step + kAhead, steps); ++announced) {
      model.prefetch(batches.expected[announced % kBatches]);
    }
    auto trained = model.step(*batches.rows[step % kBatches]);
    if (!trained) return pass(trained);
  }
  return {};
}

/// Reads numbers of steps, trains them and answers with the seconds they took, until the other side
/// closes.
Status serve(const BenchTrainer& trainer, const WireBenchProcess::Lines& lines) {
  const CpuLimit cpu(trainer.place);
  if (auto kept = cpu.set(1); !kept) return kept;
  auto module = TrainerModule::open();
  if (!module) return pass(module);
  std::unique_ptr<Collective> ranks;
  if (trainer.ranks.size > 1) {
    auto met = module->make_collective(trainer.ranks);
    if (!met) return pass(met);
    ranks = std::move(*met);
  }
  auto model = make_model_of(trainer, ranks.get());
  if (!model) return pass(model);
  MemoryBudget budget(~std::size_t{0});
  BufferPool pool(budget);
  const auto batches = make_batches(trainer, pool);
  if (!batches) return fail(batches.error().code, batches.error().message);
  if (auto settled = take_steps(**model, *batches, kSettle); !settled) return settled;
  lines.write(kStands);
  const SystemClock clock;
  for (std::string asked = lines.read(); !asked.empty(); asked = lines.read()) {
    const auto began = clock.now();
    auto trained = take_steps(**model, *batches, std::stoull(asked));
    if (!trained) return trained;
    const std::chrono::duration<double> took = clock.now() - began;
    lines.write(std::to_string(took.count()));
  }
  return {};
}

Error failure(const std::string& said) {
  return {Code::kUnavailable, said.empty() ? "a process of the benchmark ended"
                                           : "a process of the benchmark: " + said};
}

}  // namespace

Result<WireBenchProcess> start_trainer(const BenchTrainer& trainer) {
  return WireBenchProcess::start([&trainer](const WireBenchProcess::Lines& lines) {
    auto served = serve(trainer, lines);
    if (!served) lines.write(served.error().message);
  });
}

Status wait_until_it_stands(const WireBenchProcess& trainer) {
  const std::string said = trainer.lines().read();
  return said == kStands ? Status() : Status(tl::unexpected<Error>(failure(said)));
}

void begin_steps(const WireBenchProcess& trainer, std::uint64_t steps) {
  trainer.lines().write(std::to_string(steps));
}

Result<double> finish_steps(const WireBenchProcess& trainer) {
  const std::string said = trainer.lines().read();
  double seconds = 0;
  const auto read = std::from_chars(said.data(), said.data() + said.size(), seconds);
  if (said.empty() || read.ptr != said.data() + said.size()) {
    return tl::unexpected<Error>(failure(said));
  }
  return seconds;
}

}  // namespace forebay
