#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "tools/bench/cluster_bench.h"
#include "tools/bench/head_bench.h"
#include "tools/bench/other_program.h"
#include "tools/bench/remote_bench.h"
#include "tools/bench/runtime_bench.h"
#include "tools/bench/tuner_bench.h"
#include "tools/bench/wire_bench.h"
#include "tools/command/bench_parts.h"
#include "tools/process/own_path.h"
#include "tools/process/stop_request.h"
#include "tuner/policy/policies.h"

namespace forebay {

BenchFigures runtime_figures(const Invocation& invocation) {
  auto rounds = bench_count(invocation, "--rounds", 5);
  if (!rounds) return pass(rounds);
  std::map<std::string, std::vector<double>> ours;
  std::map<std::string, std::vector<double>> theirs;
  std::vector<BenchResult> results;
  for (std::uint64_t round = 0; round < *rounds && !StopRequest::requested(); ++round) {
    results = run_runtime_bench({}, SystemClock());
    for (const BenchResult& result : results) ours[result.name].push_back(result.value);
    if (!invocation.has("--public")) continue;
    auto said = numbers_said_by("'" + invocation.value("--public") + "'");
    if (!said) return pass(said);
    for (const auto& [name, value] : *said) theirs[name].push_back(value);
  }
  for (BenchResult& result : results) {
    result.value = median(ours[result.name]);
    if (!theirs.contains(result.name)) continue;
    result.limit = median(theirs[result.name]);
    result.ratio = result.value / *result.limit;
  }
  return results;
}

BenchFigures tuner_figures(const Invocation& invocation) {
  auto rounds = bench_count(invocation, "--rounds", 5);
  if (!rounds) return pass(rounds);
  const bool known = std::ranges::count(tuner::policies(), "intune", &tuner::PolicyInfo::name) > 0;
  return bench_tuner({.rounds = static_cast<int>(*rounds),
                      .policy = known ? "intune" : "greedy",
                      .stopped = [] { return StopRequest::requested(); }});
}

/// Benchmarks that fork come first, since RocksDB's threads never end.
BenchFigures wire_figures(const Invocation& invocation) {
  auto rounds = bench_count(invocation, "--rounds", 5);
  if (!rounds) return pass(rounds);
  auto program = own_path();
  if (!program) return pass(program);
  const SystemClock clock;
  const auto stopped = [] { return StopRequest::requested(); };
  const int few = static_cast<int>(std::min<std::uint64_t>(*rounds, 3));
  WireBenchOptions wire;
  wire.rounds = static_cast<int>(*rounds);
  wire.stopped = stopped;
  const std::vector<std::function<BenchFigures()>> parts = {
      [&] { return run_wire_bench(wire, clock); },
      [&] {
        return run_remote_bench({.rounds = few, .program = *program, .stopped = stopped}, clock);
      },
      [&] { return run_cluster_bench({.rounds = few, .stopped = stopped}, clock); },
      [&] {
        return run_head_bench({.folder = std::filesystem::temp_directory_path().string()}, clock);
      }};
  std::vector<BenchResult> results;
  for (const auto& part : parts) {
    if (stopped()) break;
    auto more = part();
    if (!more) return more;
    results.insert(results.end(), more->begin(), more->end());
  }
  return results;
}

}  // namespace forebay
