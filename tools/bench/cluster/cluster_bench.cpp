#include "tools/bench/cluster/cluster_bench.h"

#include <array>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/runtime/synchronized.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/cluster/emulated_cluster.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// Signals when a worker has begun the last of `splits` splits.
class BegunAll {
 public:
  BegunAll(std::size_t splits, const Clock& clock) : missing_(splits), clock_(clock) {}

  /// Called on the worker's thread.
  void begin(std::uint64_t split) {
    if (!begun_.insert(split).second) return;
    if (begun_.size() == missing_) all_.set_value(clock_.now());
  }

  std::future<std::chrono::nanoseconds> when() { return all_.get_future(); }

 private:
  const std::size_t missing_;
  const Clock& clock_;
  std::set<std::uint64_t> begun_;
  std::promise<std::chrono::nanoseconds> all_;
};

/// Runs a worker that takes splits and never makes one.
void serve_victim(const BenchProcess::Lines& lines) {
  const SystemClock clock;
  const std::string address = lines.read();
  auto node = EmulatedNode::make(
      {.join = address, .name = "victim", .cpus = 32, .split = std::chrono::hours(1)}, clock);
  lines.read();
}

/// Waits until every split is leased, some of them to the victim.
bool await_leases(const CountingTrainer& trainer, const Clock& clock) {
  const auto start = clock.now();
  while (clock.now() - start < 30s) {
    auto status = trainer.status();
    if (!status) return false;
    for (const scheduler::NodeStatus& node : status->nodes) {
      if (node.name == "victim" && node.leases > 0 && status->waiting == 0) return true;
    }
    static_cast<void>(Latch().wait_for(5ms));
  }
  return false;
}

Status append_scaling(const ClusterBenchOptions& options, const Clock& clock,
                      std::vector<BenchResult>& results) {
  constexpr std::array<std::uint32_t, 4> kWorkers = {1, 2, 4, 8};
  std::map<std::uint32_t, std::vector<double>> rates;
  for (int round = 0; round < options.rounds && !options.stopped(); ++round) {
    for (const std::uint32_t workers : kWorkers) {
      auto rate = emulated_splits_per_second(workers, options, clock);
      if (!rate) return pass(rate);
      rates[workers].push_back(*rate);
    }
  }
  for (const std::uint32_t workers : kWorkers) {
    if (workers == 1 || rates[workers].empty()) continue;
    const double value = median(rates[workers]);
    const double limit = median(rates[1]) * workers;
    results.push_back(
        {"scaling_" + std::to_string(workers), value, "splits/s", limit, value / limit});
  }
  return {};
}

}  // namespace

Result<double> emulated_splits_per_second(std::uint32_t workers, const ClusterBenchOptions& options,
                                          const Clock& clock) {
  const double rate = options.cpus / in_seconds(options.split) * workers;
  const auto measured = static_cast<std::uint64_t>(rate * options.seconds);
  auto trainer = CountingTrainer::make(
      {.workers = workers,
       .splits = 0,
       .window = std::uint64_t{3} * workers * EmulatedNode::slots(options.cpus),
       .warm_up = static_cast<std::uint64_t>(rate / 2),
       .measured = measured},
      clock);
  if (!trainer) return pass(trainer);
  std::vector<std::unique_ptr<EmulatedNode>> nodes;
  nodes.reserve(workers);
  for (std::uint32_t number = 0; number < workers; ++number) {
    auto node = EmulatedNode::make({.join = (*trainer)->address(),
                                    .name = "node-" + std::to_string(number),
                                    .cpus = options.cpus,
                                    .split = options.split},
                                   clock);
    if (!node) return pass(node);
    nodes.push_back(std::move(*node));
  }
  const auto seconds = (*trainer)->wait(60s);
  if (!seconds) {
    return fail(Code::kTimeout, "the emulated cluster of " + std::to_string(workers) +
                                    " workers did not bring its splits within a minute");
  }
  return static_cast<double>(measured) / *seconds;
}

Result<double> death_to_reissue_seconds(const Clock& clock) {
  constexpr std::uint64_t kSplits = 64;
  auto victim = BenchProcess::start(serve_victim);
  if (!victim) return pass(victim);
  auto trainer = CountingTrainer::make(
      {.workers = 2, .splits = kSplits, .window = kSplits, .warm_up = 0, .measured = kSplits},
      clock);
  if (!trainer) return pass(trainer);
  BegunAll begun(kSplits, clock);
  auto survivor =
      EmulatedNode::make({.join = (*trainer)->address(),
                          .name = "survivor",
                          .cpus = 32,
                          .split = 20ms,
                          .on_begin = [&begun](std::uint64_t split) { begun.begin(split); }},
                         clock);
  if (!survivor) return pass(survivor);
  victim->lines().write((*trainer)->address());
  if (!await_leases(**trainer, clock)) {
    return fail(Code::kTimeout, "no split was leased to the worker that is to be killed");
  }
  const auto killed = clock.now();
  victim->kill();
  auto when = begun.when();
  if (when.wait_for(60s) != std::future_status::ready) {
    return fail(Code::kTimeout, "a killed worker's splits were not issued again within a minute");
  }
  return in_seconds(when.get() - killed);
}

Result<std::vector<BenchResult>> run_cluster_bench(const ClusterBenchOptions& options,
                                                   const Clock& clock) {
  constexpr double kReissueAim = 2;
  std::vector<BenchResult> results;
  std::vector<double> deaths;
  for (int round = 0; round < options.rounds && !options.stopped(); ++round) {
    auto death = death_to_reissue_seconds(clock);
    if (!death) return pass(death);
    deaths.push_back(*death);
  }
  if (auto status = append_scaling(options, clock, results); !status) return pass(status);
  if (deaths.empty()) return results;
  const double death = median(deaths);
  results.push_back({"death_to_reissue", death, "s", kReissueAim, kReissueAim / death});
  return results;
}

}  // namespace forebay
