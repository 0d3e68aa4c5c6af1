#include "tools/bench/table_bench_run.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/clock.h"
#include "tools/bench/disk_pages.h"
#include "tools/bench/filled_tables.h"
#include "trainer/module.h"
#include "trainer/table_bench.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kTimesTheirMemory = 20;

/// A folder of its own, gone with it.
class BenchFolder {
 public:
  explicit BenchFolder(std::string path) : path_(std::move(path)) {}
  ~BenchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

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

/// Of the disk, in turns that took so many.
double pages_per_row(std::uint64_t pages, const TableBenchPlan& plan) {
  const std::uint64_t steps = plan.turns * (plan.uncounted + plan.steps);
  return static_cast<double>(pages) / static_cast<double>(steps * plan.batches.rows);
}

}  // namespace

Result<std::vector<BenchResult>> run_table_bench(const TableBenchRun& run) {
  std::string pattern = (fs::temp_directory_path() / "forebay-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::kUnavailable, pattern + ": cannot make a folder for the tables; set TMPDIR");
  }
  const BenchFolder folder(pattern);
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
               folder.path().c_str());
  spec.tables = {.storage = TrainerSpec::Storage::kTiered,
                 .memory_bytes = bytes / kTimesTheirMemory,
                 .folder = folder.path() + "/tables"};
  std::vector<BenchResult> results;
  for (const bool fill : {true, false}) {
    auto tiers = make_model(spec, *shape);
    if (!tiers) return pass(tiers);
    const std::string name = fill ? "tables_on_disk" : "tables_first_touched";
    if (fill) {
      std::fprintf(stderr, "forebay: %s: writing every row\n", name.c_str());
      const std::string aside = folder.path() + "/filling";
      if (auto filled = fill_tiered_tables(**tiers, spec, *shape, aside); !filled) {
        return pass(filled);
      }
      std::error_code ignored;
      fs::remove_all(aside, ignored);
    }
    std::uint64_t pages_before_turns = 0;
    auto bench = bench_tables(**memory, **tiers, clock, plan,
                              [&](const std::string& done, double tiered, double in_memory) {
                                if (in_memory == 0) pages_before_turns = disk_pages_read();
                                say(name, done, tiered, in_memory);
                              });
    if (!bench) return pass(bench);
    const std::uint64_t pages = disk_pages_read() - pages_before_turns;
    results.push_back({name, bench->tiers, "rows/s", bench->memory, bench->ratio});
    results.push_back({name + "_ready", bench->ready, "of lookups", 1.0, bench->ready});
    if (!fill) continue;
    auto limit = random_pages_per_second(spec.tables.folder, clock);
    if (!limit) return pass(limit);
    const double rate = pages_per_row(pages, plan) * bench->tiers;
    results.push_back({name + "_reads", rate, "pages/s", *limit, rate / *limit});
  }
  return results;
}

}  // namespace forebay
