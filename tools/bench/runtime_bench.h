#pragma once

#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "tools/bench/bench_data.h"

namespace forebay {

/// The amount of work of each workload.
struct RuntimeBenchOptions {
  std::uint64_t fan_in_messages = 4'000'000;  ///< Of all senders together.
  std::uint64_t round_trips = 1'000'000;
  std::uint64_t spawns = 300'000;
  std::uint64_t pool_tokens = 40'000;
  std::uint64_t threads = 2;
};

/// Runs the actor runtime's workloads, each in its own actor system: `fan_in`, 4 actors that send
/// to one, messages/s; `ping_pong` of a pair, round trips/s; `spawn`, actors that are started and
/// ended, actors/s; `pool_handoff`, 4 pools in a chain that only pass on tokens of 1 MiB,
/// nanoseconds of CPU a token and pool. The same workloads for CAF: tests/bench/caf_runtime.cpp.
std::vector<BenchResult> run_runtime_bench(const RuntimeBenchOptions& options, const Clock& clock);

}  // namespace forebay
