#pragma once

#include <cstddef>
#include <cstdint>

#include "core/net/curve_keys.h"
#include "tools/bench/bench_process.h"

namespace forebay {

/// Messages from one process to another.
struct WireWork {
  enum class Kind : std::uint8_t {
    kTells,    ///< Control messages of 64 bytes, one way.
    kAsks,     ///< Requests, each sent after the answer to the previous one.
    kBatches,  ///< Messages of `frames` frames.
  };

  Kind kind = Kind::kTells;
  std::uint64_t messages = 0;
  std::size_t frames = 0;
  std::size_t frame_bytes = 0;
};

// The same work with ZeroMQ alone: the limit of `forebay bench wire`.

/// Binds, reports the address and receives the messages, with keys if given.
void serve_raw(const WireWork& work, const CurveKeys* keys, const BenchProcess::Lines& lines);

/// Runs the other side; returns the seconds from the first message until the last has arrived.
double time_raw(const WireWork& work, const CurveKeys* keys, const BenchProcess::Lines& lines);

}  // namespace forebay
