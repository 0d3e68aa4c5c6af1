#include "tuner/compare/trace.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace forebay::tuner {

const OracleStretch& oracle_at(const Trace& trace, double seconds) {
  FOREBAY_CHECK(!trace.oracle.empty());
  const auto later = std::find_if(
      trace.oracle.begin() + 1, trace.oracle.end(),
      [seconds](const OracleStretch& stretch) { return stretch.from_seconds > seconds; });
  return *(later - 1);
}

double oracle_splits(const Trace& trace, double from_seconds, double to_seconds) {
  double splits = 0;
  for (std::size_t i = 0; i < trace.oracle.size(); ++i) {
    const bool last = i + 1 == trace.oracle.size();
    const double until =
        last ? std::numeric_limits<double>::infinity() : trace.oracle[i + 1].from_seconds;
    const double overlap =
        std::min(to_seconds, until) - std::max(from_seconds, trace.oracle[i].from_seconds);
    if (overlap > 0) splits += overlap * trace.oracle[i].splits_per_second;
  }
  return splits;
}

}  // namespace forebay::tuner
