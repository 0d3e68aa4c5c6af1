#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "tools/bench/ingest_bench.h"
#include "tools/bench/runtime_bench.h"
#include "tools/command/commands.h"
#include "tools/json_object.h"
#include "tools/process/machine.h"
#include "tools/process/memory_use.h"
#include "tools/process/stop_request.h"
#include "tools/synth/synth_files.h"
#include "trainer/module.h"
#include "trainer/train_bench.h"

namespace forebay {
namespace {

using Results = Result<std::vector<BenchResult>>;

Result<std::uint64_t> count_of(const Invocation& invocation, const std::string& option, std::uint64_t otherwise) {
  const std::string text = invocation.value(option);
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number == 0) {
    return fail(Code::kInvalid, option + " " + text + ": wants a number of at least 1");
  }
  return number;
}

/// A folder of made-up Criteo files, gone with it.
class BenchData {
 public:
  static Result<BenchData> make(std::uint64_t rows) {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / "forebay-bench-XXXXXX").string();
    if (error || ::mkdtemp(pattern.data()) == nullptr) {
      return fail(Code::kUnavailable, pattern + ": cannot make a folder for the data; set TMPDIR");
    }
    BenchData data(pattern);
    std::fprintf(stderr, "forebay: writing %llu rows to %s\n", static_cast<unsigned long long>(rows), pattern.c_str());
    auto written = write_synth({.rows = rows, .files = 4, .seed = 1, .folder = data.folder_},
                               [](std::uint64_t) { return !StopRequest::requested(); });
    if (!written) return pass(written);
    return data;
  }
  BenchData(BenchData&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  BenchData& operator=(BenchData&&) = delete;
  ~BenchData() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  const std::string& folder() const { return folder_; }

  Result<std::unique_ptr<Dataset>> open() const {
    DatasetSpec spec;
    spec.paths = {"*.tsv"};
    DatasetOptions options;
    options.base_dir = folder_;
    options.run_dir = folder_ + "/.forebay";
    options.threads = available_cpus();
    return open_dataset(spec, {}, options);
  }

 private:
  explicit BenchData(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

/// log1p on the integers, sigrid_hash on the tokens: the work that the figures speak of.
Result<TransformPlan> usual_transforms(const Schema& schema) {
  TransformSpec log1p{"log1p", {"I*"}, {}};
  TransformSpec hash{"sigrid_hash", {"C*"}, {{"max_value", std::int64_t{1'000'000}}}};
  return TransformPlan::compile({log1p, hash}, schema);
}

IngestBenchOptions options_for(const Dataset& dataset, const TransformPlan& plan, std::uint64_t rounds) {
  const int cpus = available_cpus();
  return {.dataset = dataset,
          .plan = plan,
          .order = {},
          .allocation = {.load = 1, .decode = cpus, .shuffle = 1, .transform = cpus},
          .threads = cpus,
          .rounds = static_cast<int>(rounds)};
}

/// What the public loader in `folder` (tests/bench/public) makes of the same files.
Results public_loader(const std::string& folder, const BenchData& data, double ours) {
  const std::string command = "'" + folder + "/venv/bin/python' '" + folder + "/pyarrow_numpy.py' --threads " +
                              std::to_string(available_cpus()) + " '" + data.folder() + "'/*.tsv";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return fail(Code::kUnavailable, "--public " + folder + ": cannot start a shell");
  std::array<char, 4096> buffer{};
  const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe);
  const int status = ::pclose(pipe);
  const auto said = nlohmann::json::parse(buffer.data(), buffer.data() + size, nullptr, false);
  if (status != 0 || !said.is_object() || !said.contains("rows_per_second")) {
    return fail(Code::kUnavailable, "--public " + folder + ": pyarrow_numpy.py did not run; see its setup.sh");
  }
  const double theirs = said["rows_per_second"].get<double>();
  return std::vector<BenchResult>{{"pipeline_over_pyarrow", ours, "rows/s", theirs, ours / theirs}};
}

Results run_ingest_bench(const Invocation& invocation) {
  auto rows = count_of(invocation, "--rows", 2'000'000);
  auto rounds = count_of(invocation, "--rounds", 5);
  if (!rows) return pass(rows);
  if (!rounds) return pass(rounds);
  auto data = BenchData::make(*rows);
  if (!data) return pass(data);
  auto dataset = data->open();
  if (!dataset) return pass(dataset);
  auto plan = usual_transforms((*dataset)->format().schema());
  if (!plan) return pass(plan);
  auto results = bench_ingest(options_for(**dataset, *plan, *rounds));
  if (!results || !invocation.has("--public")) return results;
  const auto pipeline = std::find_if(results->begin(), results->end(), [](const BenchResult& result) { return result.name == "pipeline"; });
  auto more = public_loader(invocation.value("--public"), *data, pipeline->value);
  if (!more) return more;
  results->insert(results->end(), more->begin(), more->end());
  return results;
}

Results run_train_bench(const Invocation& invocation) {
  auto rows = count_of(invocation, "--rows", 2'000'000);
  if (!rows) return pass(rows);
  auto data = BenchData::make(*rows);
  if (!data) return pass(data);
  auto dataset = data->open();
  if (!dataset) return pass(dataset);
  auto plan = usual_transforms((*dataset)->format().schema());
  if (!plan) return pass(plan);
  TrainerSpec spec;
  spec.threads = std::max(available_cpus() - 1, 1);
  auto shape = shape_of(spec, plan->output());
  if (!shape) return pass(shape);
  auto model = make_model(spec, *shape);
  if (!model) return pass(model);
  auto bench = bench_training_fed(options_for(**dataset, *plan, 1), **model);
  if (!bench) return pass(bench);
  return std::vector<BenchResult>{{"train_with_pipeline", bench->fed, "rows/s", bench->cached, bench->ratio()}};
}

Results run_bench_of(const std::string& part, const Invocation& invocation) {
  if (part == "ingest") return run_ingest_bench(invocation);
  if (part == "train") return run_train_bench(invocation);
  if (part == "runtime") return run_runtime_bench({}, SystemClock());
  return fail(Code::kInvalid, "bench " + part + ": not in this version; known are ingest, runtime and train");
}

void print(const std::vector<BenchResult>& results) {
  for (const BenchResult& result : results) {
    std::printf("%-26s %14.2f %-8s", result.name.c_str(), result.value, result.unit.c_str());
    if (result.limit) std::printf("  limit %14.2f", *result.limit);
    if (result.ratio) std::printf("  ratio %.3f", *result.ratio);
    std::printf("\n");
  }
}

JsonObject json_of(const BenchResult& result) {
  return JsonObject()
      .add("name", result.name)
      .add("value", result.value)
      .add("unit", result.unit)
      .add("limit", result.limit)
      .add("ratio", result.ratio);
}

}  // namespace

Exit run_bench(const Invocation& invocation) {
  auto results = run_bench_of(invocation.arguments.front(), invocation);
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!results) {
    return results.error().code == Code::kInvalid ? Exit::refused(results.error()) : Exit::failed(results.error());
  }
  if (!invocation.has("--json")) {
    print(*results);
    return Exit::done();
  }
  std::vector<JsonObject> list;
  for (const BenchResult& result : *results) list.push_back(json_of(result));
  print_json(JsonObject().add("results", list));
  return Exit::done();
}

}  // namespace forebay
