#include "tuner/world/oracle_line.h"

#include <algorithm>
#include <limits>

namespace forebay::tuner {
namespace {

std::vector<double> moments_of(const PipelineModel& model, double until) {
  std::vector<double> moments = {0};
  for (const ModelEvent& event : model.events) {
    for (const double at : {event.at_seconds, event.at_seconds + event.over_seconds}) {
      if (at <= until) moments.push_back(at);
    }
  }
  std::ranges::sort(moments);
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

bool ramps_between(const PipelineModel& model, double from, double to) {
  return std::ranges::any_of(model.events, [&](const ModelEvent& event) {
    return event.over_seconds > 0 && event.at_seconds <= from &&
           event.at_seconds + event.over_seconds >= to;
  });
}

/// The steady world just before a moment: without the events of that moment itself.
PipelineModel just_before(PipelineModel model, double seconds) {
  std::erase_if(model.events, [&](const ModelEvent& event) { return event.at_seconds >= seconds; });
  return steady_part(model_at(model, seconds));
}

}  // namespace

std::vector<OracleSpan> oracle_line(const PipelineModel& model, double until,
                                    const FindBest& find) {
  std::vector<OracleSpan> line;
  const std::vector<double> moments = moments_of(model, until);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const double from = moments[i];
    line.push_back({.from_seconds = from, .best = find(steady_part(model_at(model, from)))});
    if (i + 1 == moments.size() || !ramps_between(model, from, moments[i + 1])) continue;
    const BestKnown end = find(just_before(model, moments[i + 1]));
    line.back().growth =
        (end.splits_per_second - line.back().best.splits_per_second) / (moments[i + 1] - from);
    line.back().best.exact = line.back().best.exact && end.exact;
  }
  return line;
}

double mean_rate(const std::vector<OracleSpan>& line, double from, double to) {
  double splits = 0;
  double at_from = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const OracleSpan& span = line[i];
    const double end =
        i + 1 == line.size() ? std::numeric_limits<double>::infinity() : line[i + 1].from_seconds;
    const auto rate_at = [&](double when) {
      return span.best.splits_per_second + span.growth * (when - span.from_seconds);
    };
    if (span.from_seconds <= from && from < end) at_from = rate_at(from);
    const double begin = std::max(from, span.from_seconds);
    const double until = std::min(to, end);
    if (until > begin) splits += (until - begin) * rate_at((begin + until) / 2);
  }
  return to > from ? splits / (to - from) : at_from;
}

}  // namespace forebay::tuner
