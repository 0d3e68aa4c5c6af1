#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/net/curve_keys.h"
#include "tools/bench/bench_data.h"
#include "tools/bench/bench_process.h"

namespace forebay {

/// The amount of work of each workload, in each round.
struct WireBenchOptions {
  int rounds = 5;
  std::uint64_t tells = 1'000'000;  ///< Control messages of 64 bytes, one way.
  std::uint64_t asks = 5'000;       ///< Requests, each sent after the answer to the previous one.
  std::uint64_t batches = 1'500;    ///< Messages of `frames` frames.
  std::size_t frames = 40;
  std::size_t frame_bytes = 16 * 1024;
  std::string only;                                      ///< The only row to measure; empty: all.
  std::function<bool()> stopped = [] { return false; };  ///< Called between two rounds.
};

/// Measures actors' messages between two processes over TCP loopback, interleaved with raw ZeroMQ
/// that does the same: `tell`, `ask`, `batches`, and the last two with CURVE. Medians over the
/// rounds; the limit is raw ZeroMQ's median. Forks: call it before a thread is started.
Result<std::vector<BenchResult>> run_wire_bench(const WireBenchOptions& options,
                                                const Clock& clock);

/// ZeroMQ alone with the workloads of `forebay bench wire`: the limits of its comparison.

/// Binds, reports the address, and receives messages: "push", "req" or "batches", with keys if
/// given.
void serve_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
               const BenchProcess::Lines& lines);

/// Runs the other side; returns the seconds from the first message until the last has arrived.
double time_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
                const BenchProcess::Lines& lines, const Clock& clock);

}  // namespace forebay
