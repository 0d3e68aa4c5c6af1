#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/base/open_files.h"
#include "core/base/random.h"
#include "core/store/rows/read_queue.h"
#include "core/store/rows/row_log.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_setup.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/disk_rows.h"
#include "trainer/module.h"
#include "trainer/train_bench.h"

namespace forebay {
namespace {

constexpr double kLasts = 2;
constexpr std::size_t kPagesAtOnce = 4096;  // Pages between two readings of the clock.

struct File {
  Descriptor descriptor;
  std::uint64_t pages = 0;
};

std::vector<File> files_in(const std::string& folder) {
  std::vector<File> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::uint64_t pages = entry.is_regular_file() ? entry.file_size() / kDirectPage : 0;
    if (pages > 0) files.push_back({open_direct(entry.path().string(), O_RDONLY), pages});
  }
  return files;
}

/// A snapshot with the model's network, and with tables that have no row in memory and all rows on
/// the disk.
class FilledSource final : public StateSource {
 public:
  /// `folder` is used for the rows' files.
  FilledSource(StateSource& network, RowLog& rows, std::string folder)
      : network_(network), rows_(rows), folder_(std::move(folder)) {
    for (std::size_t i = 0; i < network.tensors().size(); ++i) {
      StateTensor tensor = network.tensors()[i];
      if (tensor.name == "tables.rows" || tensor.name == "tables.keys") tensor.shape[0] = 0;
      tensors_.push_back(std::move(tensor));
    }
  }

  const std::vector<StateTensor>& tensors() const override { return tensors_; }

  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    if (tensors_[index].name == "tables.written") {
      std::memset(to.data(), 0xff, to.size());
      return {};
    }
    return to.empty() ? Status() : network_.read(index, offset, to);
  }

  Result<std::string> files_folder() override {
    if (auto linked = rows_.link(folder_); !linked) return pass(linked);
    return folder_;
  }

 private:
  StateSource& network_;
  RowLog& rows_;
  const std::string folder_;
  std::vector<StateTensor> tensors_;
};

Status write_table(RowLog& disk, const TableLayout& layout, std::size_t table,
                   std::uint64_t first) {
  constexpr std::int64_t kAtOnce = 65536;
  const RowValues values = layout.values_of(table);
  const std::size_t floats = layout.width + layout.state_width;
  std::vector<std::uint64_t> numbers;
  std::vector<float> rows;
  for (std::int64_t begin = 0; begin < layout.rows[table]; begin += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, layout.rows[table] - begin);
    numbers.clear();
    rows.assign(static_cast<std::size_t>(count) * floats, 0);
    for (std::int64_t i = 0; i < count; ++i) {
      numbers.push_back(first + static_cast<std::uint64_t>(begin + i));
      values.fill(begin + i, {rows.data() + static_cast<std::size_t>(i) * floats, layout.width});
    }
    const auto fill = [&](std::size_t place, std::span<std::byte> row) {
      std::memcpy(row.data(), rows.data() + place * floats, row.size());
    };
    if (auto status = disk.write(numbers, fill); !status) return status;
  }
  return {};
}

/// Returns the pages of 4 KiB that this process has read from the disk so far.
std::uint64_t disk_pages_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  while (file >> name >> bytes && name != "read_bytes:") {
  }
  return bytes / kDirectPage;
}

/// Returns the pages a second that the disk delivers to a program that only reads: for two seconds,
/// at random from all files in `folder`, past the page cache, with as many reads in flight as
/// tiered tables use.
Result<double> random_pages_per_second(const std::string& folder) {
  const std::vector<File> files = files_in(folder);
  if (files.empty()) return fail(Code::kNotFound, folder + " holds no file of a page");
  ReadQueue queue(kDirectPage);
  Random random(1);
  std::uint64_t pages = 0;
  const Stopwatch watch;
  double lasted = 0;
  for (; lasted < kLasts; lasted = watch.seconds()) {
    std::vector<PageLocation> places(kPagesAtOnce);
    for (PageLocation& place : places) {
      const File& file = files[random.below(files.size())];
      place = {file.descriptor.number(), random.below(file.pages) * kDirectPage};
    }
    queue.read(places, [&](std::size_t, std::int64_t read, char*) { pages += read > 0 ? 1 : 0; });
  }
  return static_cast<double>(pages) / lasted;
}

/// Writes every row of a fresh model's tiered tables to their disk, with its initial values, as if
/// training had touched all of them. Uses the disk's own format and the model's restore. `folder`
/// is used temporarily and is on the tables' disk.
Status fill_tiered_tables(Model& model, const TrainerSpec& spec, const ModelShape& shape,
                          const std::string& folder) {
  const TableLayout layout = layout_of(spec, shape);
  auto disk = RowLog::create(folder, DiskRows::options(layout));
  if (!disk) return pass(disk);
  std::uint64_t first = 0;
  for (std::size_t table = 0; table < layout.rows.size(); ++table) {
    if (auto status = write_table(**disk, layout, table, first); !status) return status;
    first += static_cast<std::uint64_t>(layout.rows[table]);
  }
  auto network = model.snapshot();
  if (!network) return pass(network);
  FilledSource filled(**network, **disk, folder + "/linked");
  return model.restore(filled);
}

constexpr std::uint64_t kTimesTheirMemory = 20;

void say(const std::string& name, const std::string& done, double tiers, double memory) {
  const std::string against =
      memory > 0 ? " against " + std::to_string(std::llround(memory)) + " in memory" : "";
  std::fprintf(stderr, "forebay: %s: %s: %lld rows/s%s\n", name.c_str(), done.c_str(),
               std::llround(tiers), against.c_str());
}

/// The parts of one benchmark: the options of both models, and the model in memory.
struct Comparison {
  TableBenchPlan plan;
  TrainerSpec tiered;
  ModelShape shape;
  std::unique_ptr<Model> memory;
  std::string folder;
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

/// Returns the rows a second of the tiered tables; `pages` becomes the pages read from the disk
/// meanwhile.
Result<double> compare(const std::string& name, const Comparison& with, Model& tiers,
                       std::vector<BenchResult>& results, std::uint64_t& pages) {
  auto bench = bench_tables(*with.memory, tiers, SystemClock(), with.plan,
                            [&](const std::string& done, double tiered, double in_memory) {
                              if (in_memory == 0) pages = disk_pages_read();
                              say(name, done, tiered, in_memory);
                            });
  if (!bench) return pass(bench);
  pages = disk_pages_read() - pages;
  results.push_back({name, bench->tiers, "rows/s", bench->memory, bench->ratio});
  results.push_back(BenchResult::over(name + "_ready", bench->ready, "of lookups", 1));
  return bench->tiers;
}

/// With every row on the disk; compared with the disk's rate for a program that only reads.
Status compare_on_disk(const Comparison& with, std::vector<BenchResult>& results) {
  auto tiers = filled_tiers(with);
  if (!tiers) return pass(tiers);
  std::uint64_t pages = 0;
  auto rows = compare("tables_on_disk", with, **tiers, results, pages);
  if (!rows) return pass(rows);
  auto limit = random_pages_per_second(with.tiered.tables.folder);
  if (!limit) return pass(limit);
  const std::uint64_t steps = with.plan.turns * (with.plan.uncounted + with.plan.steps);
  const auto trained = static_cast<double>(steps * with.plan.batches.rows);
  const double rate = static_cast<double>(pages) / trained * *rows;
  results.push_back(BenchResult::over("tables_on_disk_reads", rate, "pages/s", *limit));
  return {};
}

/// With most rows looked up for the first time.
Status compare_first_touched(const Comparison& with, std::vector<BenchResult>& results) {
  auto tiers = make_model(with.tiered, with.shape);
  if (!tiers) return pass(tiers);
  std::uint64_t pages = 0;
  auto rows = compare("tables_first_touched", with, **tiers, results, pages);
  return rows ? Status{} : pass(rows);
}

}  // namespace

BenchResults bench_tiers(const BenchOptions& options) {
  auto folder = BenchFolder::make();
  if (!folder) return pass(folder);
  TableBenchPlan plan;
  plan.batches.table_rows = static_cast<std::int64_t>(std::bit_ceil(options.rows));
  plan.turns = static_cast<std::uint64_t>(options.rounds);
  TrainerSpec spec = bench_model(plan.batches.table_rows, options.small_network);
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
  const Comparison with{plan, spec, *shape, std::move(*memory), folder->path()};
  std::vector<BenchResult> results;
  if (auto done = compare_on_disk(with, results); !done) return pass(done);
  if (auto done = compare_first_touched(with, results); !done) return pass(done);
  return results;
}

}  // namespace forebay
