#pragma once

#include <cstdint>
#include <vector>

namespace forebay::tuner {

/// What the best fixed allocation would do from a moment on.
struct OracleStretch {
  double from_seconds = 0;
  double splits_per_second = 0;
  std::uint32_t actors = 0;        ///< The fewest that reach it, all stages together.
  std::uint64_t memory_bytes = 0;  ///< The machine's limit of that time.
};

/// One period of a run: what followed a decision, until the next.
struct Period {
  std::uint64_t decision = 0;  ///< It follows; 0: from the start to the first decision.
  double begin_seconds = 0;
  double end_seconds = 0;
  std::uint64_t trained = 0;          ///< Splits the trainer finished in it.
  std::vector<std::uint32_t> actors;  ///< Asked for at its end, by stage.
  std::uint32_t prefetch = 0;
  double cpus_busy = 0;            ///< Mean.
  std::uint64_t memory_bytes = 0;  ///< In use at its end,
  std::uint64_t memory_peak = 0;   ///< and at most.
};

/// A run as it went. Periods follow one another without a gap, period 0 first; the last ends with
/// the last decision, which nothing measured follows. After running out of memory nothing is
/// trained.
struct Trace {
  std::vector<Period> periods;
  std::vector<OracleStretch> oracle;  ///< By time, the first from 0.
  std::vector<double> events;         ///< Moments at which something changed, each once, by time.
  bool out_of_memory = false;
  double out_of_memory_seconds = 0;  ///< When; where it did.
};

/// The oracle's stretch at a moment; one that begins then counts.
const OracleStretch& oracle_at(const Trace& trace, double seconds);

/// Splits the oracle trains between two moments, each part at the rate of its time.
double oracle_splits(const Trace& trace, double from_seconds, double to_seconds);

}  // namespace forebay::tuner
