#pragma once

#include "core/net/curve_keys.h"
#include "tools/bench/wire_bench.h"
#include "tools/bench/wire_bench_process.h"

namespace forebay {

/// ZeroMQ alone with the workloads of `forebay bench wire`: the limits of its comparison.

/// Binds, reports the address, and receives messages: "push", "req" or "batches", with keys if
/// given.
void serve_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
               const WireBenchProcess::Lines& lines);

/// Runs the other side; returns the seconds from the first message until the last has arrived.
double time_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
                const WireBenchProcess::Lines& lines, const Clock& clock);

}  // namespace forebay
