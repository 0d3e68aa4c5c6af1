#include <array>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/runtime/synchronized.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/cluster/emulated_cluster.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using scheduler::CountingTrainer;
using scheduler::EmulatedNode;

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

constexpr std::uint32_t kCpus = 32;  // virtual ones of each node
constexpr std::chrono::milliseconds kSplitTime{64};

/// Returns the splits a second that `workers` emulated workers deliver. Head, split client and
/// workers are the real ones; each worker has its own ZeroMQ socket on loopback, all in this
/// process.
Result<double> emulated_splits_per_second(std::uint32_t workers, const Clock& clock) {
  constexpr double kSeconds = 2;
  const double rate = kCpus / in_seconds(kSplitTime) * workers;
  const auto measured = static_cast<std::uint64_t>(rate * kSeconds);
  auto trainer =
      CountingTrainer::make({.workers = workers,
                             .splits = 0,
                             .window = std::uint64_t{3} * workers * EmulatedNode::slots(kCpus),
                             .warm_up = static_cast<std::uint64_t>(rate / 2),
                             .measured = measured},
                            clock);
  if (!trainer) return pass(trainer);
  std::vector<std::unique_ptr<EmulatedNode>> nodes;
  nodes.reserve(workers);
  for (std::uint32_t number = 0; number < workers; ++number) {
    auto node = EmulatedNode::make({.join = (*trainer)->address(),
                                    .name = "node-" + std::to_string(number),
                                    .cpus = kCpus,
                                    .split = kSplitTime},
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

/// Returns the seconds from SIGKILL of a worker's process until another worker has begun the last
/// of its splits, with the default heartbeat and lease. Forks.
Result<double> death_to_reissue_seconds(const Clock& clock) {
  constexpr std::uint64_t kSplits = 64;
  auto victim = BenchProcess::start(serve_victim);
  if (!victim) return pass(victim);
  auto trainer = CountingTrainer::make(
      {.workers = 2, .splits = kSplits, .window = kSplits, .warm_up = 0, .measured = kSplits},
      clock);
  if (!trainer) return pass(trainer);
  std::set<std::uint64_t> begun;  // used on the worker's thread
  std::promise<std::chrono::nanoseconds> all;
  const auto begin = [&](std::uint64_t split) {
    if (begun.insert(split).second && begun.size() == kSplits) all.set_value(clock.now());
  };
  auto survivor = EmulatedNode::make({.join = (*trainer)->address(),
                                      .name = "survivor",
                                      .cpus = 32,
                                      .split = 20ms,
                                      .on_begin = begin},
                                     clock);
  if (!survivor) return pass(survivor);
  victim->lines().write((*trainer)->address());
  if (!await_leases(**trainer, clock)) {
    return fail(Code::kTimeout, "no split was leased to the worker that is to be killed");
  }
  const auto killed = clock.now();
  victim->kill();
  auto when = all.get_future();
  if (when.wait_for(60s) != std::future_status::ready) {
    return fail(Code::kTimeout, "a killed worker's splits were not issued again within a minute");
  }
  return in_seconds(when.get() - killed);
}

}  // namespace

BenchResults bench_clusters(const BenchOptions& options) {
  constexpr double kReissueAim = 2;
  constexpr std::array<std::uint32_t, 4> kWorkers = {1, 2, 4, 8};
  const SystemClock clock;
  Measurements all;
  // The deaths come first: they fork.
  auto measured =
      each_round(options.rounds, [&] { return all.add("death", death_to_reissue_seconds(clock)); });
  if (!measured) return pass(measured);
  measured = each_round(options.rounds, [&]() -> Status {
    for (const std::uint32_t workers : kWorkers) {
      auto added = all.add(std::to_string(workers), emulated_splits_per_second(workers, clock));
      if (!added) return added;
    }
    return {};
  });
  if (!measured) return pass(measured);
  std::vector<BenchResult> results;
  for (const std::uint32_t workers : kWorkers) {
    if (workers == 1) continue;
    const std::string number = std::to_string(workers);
    results.push_back(
        BenchResult::over("scaling_" + number, all[number], "splits/s", all["1"] * workers));
  }
  results.push_back(BenchResult::under("death_to_reissue", all["death"], "s", kReissueAim));
  return results;
}

}  // namespace forebay
