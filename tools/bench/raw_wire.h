#pragma once

#include "core/net/curve_keys.h"
#include "tools/bench/wire_bench.h"
#include "tools/bench/wire_bench_process.h"

namespace forebay {

/// ZeroMQ alone, doing what `forebay bench wire` compares with: the limits.

/// Binds, says where, and takes what comes: "push", "req" or "batches", with keys where given.
void serve_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
               const WireBenchProcess::Lines& lines);

/// The other end; seconds from the first message until the last has arrived.
double time_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
                const WireBenchProcess::Lines& lines, const Clock& clock);

}  // namespace forebay
