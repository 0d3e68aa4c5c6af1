#pragma once

#include <functional>
#include <vector>

#include "tuner/sim/pipeline_model.h"
#include "tuner/world/best_known.h"

namespace forebay::tuner {

/// What the best allocation brings from a moment on, until the next span.
struct OracleSpan {
  double from_seconds = 0;
  BestKnown best = {};  ///< At its begin.
  double growth = 0;    ///< Splits/s more each second: on a ramp, a straight line to its end.
};

/// Returns the best allocation of a steady world: find_best(), or what is kept of it.
using FindBest = std::function<BestKnown(const PipelineModel& steady)>;

/// The yardstick of a run: one span from every moment at which an event or a ramp begins or ends,
/// the first from 0, up to and at `until` seconds.
std::vector<OracleSpan> oracle_line(const PipelineModel& model, double until, const FindBest& find);

/// The mean rate of the line between two moments; at `from` if they are the same.
double mean_rate(const std::vector<OracleSpan>& line, double from, double to);

}  // namespace forebay::tuner
