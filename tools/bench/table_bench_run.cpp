#include "tools/bench/table_bench_run.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "tools/bench/bench_folder.h"
#include "tools/bench/disk_pages.h"
#include "tools/bench/filled_tables.h"
#include "trainer/module.h"
#include "trainer/table_bench.h"

namespace forebay {
namespace {

constexpr std::uint64_t kTimesTheirMemory = 20;

TrainerSpec spec_of(const TableBenchRun& run) {
  TrainerSpec spec;
  spec.threads = 1;
  spec.embedding_dim = 32;
  spec.max_table_rows = run.table_rows;
  if (!run.small_network) {
    // Naumov et al. 2019, for the Criteo Kaggle data.
    spec.bottom_mlp = {512, 256, 64, 32};
    spec.top_mlp = {512, 256, 1};
  }
  return spec;
}

Schema schema_of(const ZipfBatches::Options& batches) {
  Schema schema;
  for (std::size_t i = 0; i < batches.dense; ++i) schema.dense.push_back("I" + std::to_string(i));
  for (std::size_t i = 0; i < batches.features; ++i) {
    schema.sparse.push_back({"C" + std::to_string(i), 0});
  }
  return schema;
}

void say(const std::string& name, const std::string& done, double tiers, double memory) {
  const std::string against =
      memory > 0 ? " against " + std::to_string(std::llround(memory)) + " in memory" : "";
  std::fprintf(stderr, "forebay: %s: %s: %lld rows/s%s\n", name.c_str(), done.c_str(),
               std::llround(tiers), against.c_str());
}

/// Returns the pages per row in turns that read `pages` pages from the disk.
double pages_per_row(std::uint64_t pages, const TableBenchPlan& plan) {
  const std::uint64_t steps = plan.turns * (plan.uncounted + plan.steps);
  return static_cast<double>(pages) / static_cast<double>(steps * plan.batches.rows);
}

/// The parts of one benchmark: the options of both models, and the model in memory.
struct Comparison {
  TableBenchPlan plan;
  TrainerSpec tiered;
  ModelShape shape;
  std::unique_ptr<Model> memory;
  std::string folder;
  const Clock& clock;
};

Result<std::unique_ptr<Model>> filled_tiers(const Comparison& with) {
  auto tiers = make_model(with.tiered, with.shape);
  if (!tiers) return tiers;
  std::fprintf(stderr, "forebay: tables_on_disk: writing every row\n");
  const std::string aside = with.folder + "/filling";
  if (auto filled = fill_tiered_tables(**tiers, with.tiered, with.shape, aside); !filled) {
    return pass(filled);
  }
  std::error_code ignored;
  std::filesystem::remove_all(aside, ignored);
  return tiers;
}

/// Results of the tiered tables compared with tables in memory, and the pages read from the disk
/// meanwhile.
struct Compared {
  TableBench bench;
  std::uint64_t pages = 0;
};

Result<Compared> compare(const std::string& name, const Comparison& with, Model& tiers,
                         std::vector<BenchResult>& results) {
  std::uint64_t before_turns = 0;
  auto bench = bench_tables(*with.memory, tiers, with.clock, with.plan,
                            [&](const std::string& done, double tiered, double in_memory) {
                              if (in_memory == 0) before_turns = disk_pages_read();
                              say(name, done, tiered, in_memory);
                            });
  if (!bench) return pass(bench);
  results.push_back({name, bench->tiers, "rows/s", bench->memory, bench->ratio});
  results.push_back({name + "_ready", bench->ready, "of lookups", 1.0, bench->ready});
  return Compared{*bench, disk_pages_read() - before_turns};
}

/// With every row on the disk; compared with the disk's rate for a program that only reads.
Status compare_on_disk(const Comparison& with, std::vector<BenchResult>& results) {
  auto tiers = filled_tiers(with);
  if (!tiers) return pass(tiers);
  auto compared = compare("tables_on_disk", with, **tiers, results);
  if (!compared) return pass(compared);
  auto limit = random_pages_per_second(with.tiered.tables.folder, with.clock);
  if (!limit) return pass(limit);
  const double rate = pages_per_row(compared->pages, with.plan) * compared->bench.tiers;
  results.push_back({"tables_on_disk_reads", rate, "pages/s", *limit, rate / *limit});
  return {};
}

/// With most rows looked up for the first time.
Status compare_first_touched(const Comparison& with, std::vector<BenchResult>& results) {
  auto tiers = make_model(with.tiered, with.shape);
  if (!tiers) return pass(tiers);
  auto compared = compare("tables_first_touched", with, **tiers, results);
  return compared ? Status{} : pass(compared);
}

}  // namespace

Result<std::vector<BenchResult>> run_table_bench(const TableBenchRun& run) {
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  const SystemClock clock;
  TableBenchPlan plan;
  plan.batches.table_rows = run.table_rows;
  plan.turns = run.rounds;
  TrainerSpec spec = spec_of(run);
  auto shape = shape_of(spec, schema_of(plan.batches));
  if (!shape) return pass(shape);
  auto memory = make_model(spec, *shape);
  if (!memory) return pass(memory);
  const std::uint64_t bytes = 2 * sizeof(float) * shape->table_parameters();
  std::fprintf(stderr, "forebay: tables of %llu MiB, %llu MiB of memory for them, the rest in %s\n",
               static_cast<unsigned long long>(bytes >> 20),
               static_cast<unsigned long long>(bytes / kTimesTheirMemory >> 20),
               folder->path().c_str());
  spec.tables = {.storage = TrainerSpec::Storage::kTiered,
                 .memory_bytes = bytes / kTimesTheirMemory,
                 .folder = folder->path() + "/tables"};
  const Comparison with{plan, spec, *shape, std::move(*memory), folder->path(), clock};
  std::vector<BenchResult> results;
  if (auto done = compare_on_disk(with, results); !done) return pass(done);
  if (auto done = compare_first_touched(with, results); !done) return pass(done);
  return results;
}

}  // namespace forebay
