#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/pipeline.h"
#include "actors/sizing.h"
#include "actors/stage/stage_worker.h"
#include "core/base/clock.h"
#include "engine/process/machine.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/parquet/parquet_layout.h"

namespace forebay {
namespace {

using Shuffle = OrderSpec::Shuffle;

/// A sum over the rows of a dataset that does not depend on their order; the loader that is
/// compared with makes the same one (tests/bench/public/pyarrow_parquet.py).
class RowSum {
 public:
  void add(const Batch& batch) {
    std::uint64_t sum = batch.num_ids;
    for (std::size_t row = 0; row < batch.rows; ++row) sum += batch.labels[row] > 0 ? 11 : 0;
    for (std::size_t i = 0; i < batch.rows * batch.dense_features; ++i)
      sum += std::uint64_t{3} * std::bit_cast<std::uint32_t>(batch.dense[i]);
    const std::int64_t* next = batch.ids;
    for (std::size_t column = 0; column < batch.sparse_features; ++column) {
      for (std::size_t row = 0; row < batch.rows; ++row) {
        // An id counts for more in a clicked row, so that rows must not be mixed up.
        const std::uint64_t factor = batch.labels[row] > 0 ? 7 : 5;
        for (std::int32_t i = 0; i < batch.lengths[column * batch.rows + row]; ++i)
          sum += factor * static_cast<std::uint64_t>(*next++);
      }
    }
    sum_ += sum;
  }
  /// A double, as JSON's numbers are.
  double value() const { return static_cast<double>(sum_ % (std::uint64_t{1} << 52)); }

 private:
  std::uint64_t sum_ = 0;
};

/// Opened files, and what their batches need.
struct ParquetWork {
  static constexpr std::uint64_t kMemory = std::uint64_t{2} << 30;

  ParquetWork(std::unique_ptr<Dataset> opened, TransformPlan compiled,
              std::shared_ptr<IoCounts> counted)
      : dataset(std::move(opened)), plan(std::move(compiled)), counts(std::move(counted)) {}

  std::unique_ptr<Dataset> dataset;
  TransformPlan plan;
  std::shared_ptr<IoCounts> counts;
  MemoryBudget budget{kMemory};
  BufferPool buffers{budget};
  SystemClock clock;

  /// Makes all batches of an epoch, and their sum if `sum` is given; returns the seconds.
  Result<double> run(Shuffle shuffle, RowSum* sum = nullptr) {
    const auto many = static_cast<std::uint32_t>(available_cpus());
    const OrderSpec order{.shuffle = shuffle, .epochs = 1, .batch_size = 16'384};
    PipelineSpec spec;
    spec.memory_bytes = kMemory;
    spec.actors = {1, many, 1, many};
    auto memory = plan_memory(spec, Sizing(*dataset, plan, order), 0);
    if (!memory) return pass(memory);
    const Stopwatch watch;
    Pipeline pipeline({.dataset = *dataset,
                       .plan = plan,
                       .order = order,
                       .actors = spec.actors,
                       .memory = *memory,
                       .decode = {},
                       .start = {},
                       .buffers = buffers,
                       .clock = clock,
                       .on_damaged = [](const std::vector<BadRow>&) { return Status{}; }});
    while (true) {
      auto batch = pipeline.next();
      if (!batch) return pass(batch);
      if (*batch == nullptr) return watch.seconds();
      if (sum != nullptr) sum->add(**batch);
    }
  }

  /// Decodes up to 64 grains one by one; returns the seconds a row.
  Result<double> decode() {
    constexpr std::size_t kGrains = 64;
    SplitReader reader(*dataset, buffers);
    double spent = 0;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < std::min(dataset->num_blocks(), kGrains); ++i) {
      auto raw = reader.read({dataset->block(i)});
      if (!raw) return pass(raw);
      const Stopwatch watch;
      const Decoded decoded = dataset->format().decode(*raw, {}, buffers);
      spent += watch.seconds();
      rows += decoded.columns.rows;
    }
    return spent / static_cast<double>(rows);
  }
};

/// Opens the files as a new run does, without an index of an earlier one.
Result<std::unique_ptr<ParquetWork>> open_layout(const BenchFolder& folder,
                                                 const ColumnSpec& wanted) {
  static int runs = 0;
  DatasetOptions options;
  options.base_dir = folder.path();
  options.run_dir = folder.path() + "/run" + std::to_string(++runs);
  options.threads = available_cpus();
  auto counts = options.file_systems.counts();
  auto dataset = open_dataset({.format = "parquet", .paths = {"*.parquet"}}, wanted, options);
  if (!dataset) return pass(dataset);
  auto plan = TransformPlan::compile({}, (*dataset)->format().schema());
  if (!plan) return pass(plan);
  return std::make_unique<ParquetWork>(std::move(*dataset), std::move(*plan), std::move(counts));
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// The program that does the same with pyarrow and numpy.
std::string peer_command(const std::string& folder, const BenchFolder& data,
                         const ColumnSpec& wanted) {
  const std::string threshold =
      wanted.label_threshold ? " --threshold " + std::to_string(*wanted.label_threshold) : "";
  return "'" + folder + "/venv/bin/python' '" + folder + "/pyarrow_parquet.py' --threads " +
         std::to_string(available_cpus()) + " --repeat 2 --label " + wanted.label + threshold +
         " --dense '" + listed(wanted.dense) + "' --sparse '" + listed(wanted.sparse) + "' '" +
         data.path() + "'/*.parquet";
}

/// Measures one layout against itself in other orders, and against the peer.
class LayoutBench {
 public:
  LayoutBench(const BenchLayout& layout, const BenchOptions& options)
      : layout_(layout), options_(options) {}

  Status measure(std::vector<BenchResult>& results) {
    auto written = write_layout(layout_, options_.rows);
    if (!written) return pass(written);
    auto work = open_layout(written->folder, layout_.wanted);
    if (!work) return pass(work);
    rows_ = static_cast<double>((*work)->dataset->rows());
    if (options_.other) {
      const std::string command = peer_command(*options_.other, written->folder, layout_.wanted);
      if (auto status = compare_rows(**work, command); !status) return status;
    }
    auto status = each_round(options_.rounds, [&] { return one_round(*written, **work); });
    if (!status) return status;
    report(*written, results);
    return {};
  }

 private:
  /// Fails unless the peer makes the same rows.
  static Status compare_rows(ParquetWork& work, const std::string& command) {
    RowSum sum;
    if (auto made = work.run(Shuffle::kAll, &sum); !made) return pass(made);
    auto said = numbers_said_by(command + " --check --repeat 1");
    if (!said) return pass(said);
    if ((*said)["checksum"] == sum.value()) return {};
    return fail(Code::kCorrupt, "the loader that is compared with makes other rows: " + command);
  }

  Status one_round(const WrittenLayout& written, ParquetWork& work) {
    if (auto status = all_.add("decode", work.decode()); !status) return status;
    const std::uint64_t before = work.counts->bytes();
    if (auto status = add_rate("shuffled", work.run(Shuffle::kAll)); !status) return status;
    all_.add("read", static_cast<double>(work.counts->bytes() - before));
    if (auto status = add_rate("in_order", work.run(Shuffle::kNone)); !status) return status;
    if (layout_.name == "dlrm") {
      if (auto status = shares_of_columns(written); !status) return status;
    }
    return options_.other ? compare_speed(written) : Status{};
  }

  /// Measures a run from its start and the peer's first one, which both open the files and take
  /// fresh memory; and the peer's second one.
  Status compare_speed(const WrittenLayout& written) {
    const double before = own_cpu_seconds();
    if (auto status = add_rate("anew", from_the_start(written, layout_.wanted)); !status)
      return status;
    all_.add("anew_cpu", (own_cpu_seconds() - before) / rows_);
    auto said = numbers_said_by(peer_command(*options_.other, written.folder, layout_.wanted));
    if (!said) return pass(said);
    all_.add("peer", (*said)["rows_per_second"]);
    all_.add("peer_anew", (*said)["first_rows_per_second"]);
    all_.add("peer_cpu", (*said)["first_cpu_seconds"] / rows_);
    return {};
  }

  Status add_rate(const std::string& name, const Result<double>& seconds) {
    return all_.add(name, seconds ? Result<double>(rows_ / *seconds) : seconds);
  }

  /// Opens the files, makes all batches and returns the seconds of both.
  static Result<double> from_the_start(const WrittenLayout& written, const ColumnSpec& wanted) {
    const Stopwatch watch;
    auto work = open_layout(written.folder, wanted);
    if (!work) return pass(work);
    if (auto made = (*work)->run(Shuffle::kAll); !made) return made;
    return watch.seconds();
  }

  Status shares_of_columns(const WrittenLayout& written) {
    for (const auto& [name, wanted] :
         {std::pair{"tenth", tenth_of_dlrm()}, std::pair{"all", all_of_dlrm()}}) {
      auto work = open_layout(written.folder, wanted);
      if (!work) return pass(work);
      if (auto status = all_.add(name, (*work)->run(Shuffle::kNone)); !status) return status;
    }
    return {};
  }

  void report(const WrittenLayout& written, std::vector<BenchResult>& results) const {
    const std::string& name = layout_.name;
    results.push_back({name + "_decode", all_["decode"] * 1e9, "ns/row"});
    results.push_back(
        BenchResult::over(name + "_shuffled", all_["shuffled"], "rows/s", all_["in_order"]));
    results.push_back(BenchResult::under(name + "_bytes_read", all_["read"] / rows_, "B/row",
                                         static_cast<double>(written.wanted_bytes) / rows_));
    if (all_.has("all")) {
      results.push_back(
          BenchResult::over(name + "_tenth_of_columns", all_["tenth"], "s", all_["all"]));
    }
    if (all_.has("peer")) {
      results.push_back(
          BenchResult::over(name + "_over_pyarrow", all_["shuffled"], "rows/s", all_["peer"]));
      results.push_back(BenchResult::over(name + "_anew_over_pyarrow", all_["anew"], "rows/s",
                                          all_["peer_anew"]));
      results.push_back(BenchResult::under(name + "_anew_cpu", all_["anew_cpu"] * 1e9, "ns/row",
                                           all_["peer_cpu"] * 1e9));
    }
  }

  const BenchLayout& layout_;
  const BenchOptions& options_;
  double rows_ = 0;
  Measurements all_;
};

}  // namespace

BenchResults bench_parquet(const BenchOptions& options) {
  std::vector<BenchResult> results;
  for (const BenchLayout& layout : {dlrm_layout(), flights_layout(), lists_layout()}) {
    if (auto status = LayoutBench(layout, options).measure(results); !status) return pass(status);
  }
  return results;
}

}  // namespace forebay
