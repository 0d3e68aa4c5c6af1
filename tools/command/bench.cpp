#include "tools/bench/bench.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/number.h"
#include "engine/report/json_object.h"
#include "tools/bench/bench_process.h"
#include "tools/command/commands.h"
#include "tools/process/paths.h"
#include "tools/process/process_end.h"

namespace forebay {
namespace {

/// Measures actors of two processes, compared with ZeroMQ alone, and remote stages, emulated
/// clusters and the head. Benchmarks that fork come first, since RocksDB's threads never end.
BenchResults bench_wire(const BenchOptions& options) {
  BenchOptions few = options;
  few.rounds = std::min(options.rounds, 3);
  auto results = bench_messages(options);
  if (!results) return results;
  for (auto* const bench : {bench_remote, bench_clusters, bench_head}) {
    auto more = bench(few);
    if (!more) return more;
    results->insert(results->end(), more->begin(), more->end());
  }
  return results;
}

struct Part {
  std::string_view name;
  BenchResults (*bench)(const BenchOptions&);
  std::uint64_t rows;  ///< Without `--rows`, and the rounds without `--rounds`.
  int rounds;
};

constexpr std::array kParts = {Part{"checkpoint", bench_checkpoint, 1, 3},
                               Part{"ingest", bench_ingest, 2'000'000, 5},
                               Part{"parquet", bench_parquet, 1'000'000, 5},
                               Part{"ranks", bench_ranks, 300'000, 5},
                               Part{"runtime", bench_runtime, 1, 5},
                               Part{"store", bench_store, 2048, 5},
                               Part{"tables", bench_tiers, 1 << 20, 3},
                               Part{"threads", bench_threads, 200'000, 3},
                               Part{"train", bench_train, 2'000'000, 1},
                               Part{"tuner", bench_tuner, 1, 5},
                               Part{"wire", bench_wire, 1, 5}};

std::optional<double> price_in(const std::string& text) {
  constexpr double kMost = 1000;
  const auto price = parse_number<double>(text);
  return price && *price >= 0 && *price <= kMost ? price : std::nullopt;
}

std::optional<TrainerSpec::ModelKind> model_that_learns(const std::string& text) {
  const auto kind = value_in(kModelNames, text);
  return kind && learns(*kind) ? kind : std::nullopt;
}

Result<BenchOptions> options_for(const Invocation& invocation, const Part& part) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  BenchOptions options{.rows = part.rows, .rounds = part.rounds};
  OptionReader read(invocation);
  read.count("--rows", options.rows, 1, kMost).count("--rounds", options.rounds, 1, kMost);
  read.value("--request-price", options.request_price, "dollars from 0 to 1000", price_in)
      .value("--byte-price", options.byte_price, "dollars from 0 to 1000", price_in)
      .count("--connections", options.connections, 1, 1024)
      .count("--batch", options.batch_size, 1, 1 << 20)
      .value("--model", options.model, "dlrm, dcn_v2, wide_deep or deepfm", model_that_learns);
  if (auto status = read.status(); !status) return pass(status);
  options.only = invocation.value("--only");
  if (invocation.has("--device")) options.device = invocation.value("--device");
  auto program = own_path();
  if (!program) return pass(program);
  options.program = std::move(*program);
  options.growth = invocation.has("--growth");
  options.small_network = invocation.has("--small");
  if (invocation.has("--public")) options.other = invocation.value("--public");
  return options;
}

BenchResults measure(const std::string& name, const Invocation& invocation) {
  const auto* const part = std::ranges::find(kParts, name, &Part::name);
  if (part != kParts.end()) {
    auto options = options_for(invocation, *part);
    return options ? part->bench(*options) : pass(options);
  }
  std::string known;
  for (const Part& other : kParts) {
    if (!known.empty()) known += &other == &kParts.back() ? " and " : ", ";
    known += other.name;
  }
  return fail(Code::kInvalid, "bench " + name + ": not in this version; known are " + known);
}

void print(const std::vector<BenchResult>& results) {
  for (const BenchResult& result : results) {
    const int digits = result.value < 1 ? 9 : 2;
    std::printf("%-26s %14.*f %-8s", result.name.c_str(), digits, result.value,
                result.unit.c_str());
    if (result.limit) std::printf("  limit %14.*f", digits, *result.limit);
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
  const std::string& name = invocation.arguments.front();
  Exit exit = run_apart([&] {
    auto results = measure(name, invocation);
    if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
    if (!results) return Exit::of(results.error(), Code::kInvalid);
    return print_result(invocation, JsonObject().add("results", *results, json_of),
                        [&] { print(*results); });
  });
  if (name == "checkpoint") remove_bench_checkpoints();
  return exit;
}

}  // namespace forebay
