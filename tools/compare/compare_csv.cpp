#include "tools/compare/compare_csv.h"

#include <array>
#include <charconv>
#include <numeric>

#include "core/base/check.h"

namespace forebay {
namespace {

using tuner::ComparedRun;
using tuner::Period;
using tuner::PipelineModel;
using tuner::Trace;

/// A line of fields; numbers in the shortest form that parses to the same value.
class Line {
 public:
  Line& add(const std::string& text) {
    if (!text_.empty()) text_ += ',';
    text_ += csv_field(text);
    return *this;
  }
  Line& add(double number) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return add(std::string(text.data(), end));
  }
  Line& add(std::integral auto number) { return add(std::to_string(number)); }
  template <class Number>
  Line& add(const std::optional<Number>& number) {
    return number ? add(*number) : add(std::string("-"));
  }
  std::string end() const { return text_ + "\n"; }

 private:
  std::string text_;
};

std::string recoveries_of(const ComparedRun& run) {
  std::string text;
  for (const tuner::Recovery& recovery : run.figures.recoveries) {
    if (!text.empty()) text += ' ';
    text += Line().add(recovery.at_seconds).end();
    text.back() = ':';
    text += recovery.decisions_to_95 ? std::to_string(*recovery.decisions_to_95) : "-";
  }
  return text.empty() ? "-" : text;
}

std::string row_of(const ComparedRun& run) {
  const tuner::RunFigures& figures = run.figures;
  return Line()
      .add(run.pipeline)
      .add(run.policy)
      .add(run.seed)
      .add(run.decisions)
      .add(figures.ratio_overall)
      .add(figures.ratio_after_30)
      .add(figures.ratio_final)
      .add(figures.decisions_to_95)
      .add(run.out_of_memory ? 1 : 0)
      .add(figures.memory_peak)
      .add(run.memory_limit)
      .add(figures.cpus_used)
      .add(figures.actors)
      .add(figures.actors_fewest)
      .add(run.bottleneck_share)
      .add(run.record.seconds_per_decision)
      .add(run.record.guarded)
      .add(run.record.faults)
      .add(recoveries_of(run))
      .end();
}

/// Returns `load=4 decode=3`.
std::string allocation_of(const Period& period, const PipelineModel& model) {
  std::string text;
  for (std::size_t i = 0; i < period.actors.size(); ++i) {
    if (i > 0) text += ' ';
    text += model.stages[i].name + "=" + std::to_string(period.actors[i]);
  }
  return text;
}

std::string row_of(const ComparedRun& run, const Period& period, const PipelineModel& model) {
  const Trace& trace = run.record.trace;
  const double seconds = period.end_seconds - period.begin_seconds;
  return Line()
      .add(run.pipeline)
      .add(run.policy)
      .add(run.seed)
      .add(period.decision)
      .add(period.begin_seconds)
      .add(period.end_seconds)
      .add(period.trained)
      .add(static_cast<double>(period.trained) / seconds)
      .add(tuner::oracle_splits(trace, period.begin_seconds, period.end_seconds) / seconds)
      .add(period.cpus_busy)
      .add(period.memory_bytes)
      .add(period.memory_peak)
      .add(tuner::oracle_at(trace, period.begin_seconds).memory_bytes)
      .add(period.prefetch)
      .add(std::accumulate(period.actors.begin(), period.actors.end(), 0U))
      .add(allocation_of(period, model))
      .end();
}

const PipelineModel& model_of(const ComparedRun& run, const std::vector<PipelineModel>& pipelines) {
  const auto found = std::ranges::find(pipelines, run.pipeline, &PipelineModel::name);
  FOREBAY_CHECK(found != pipelines.end());
  return *found;
}

}  // namespace

std::string runs_csv(const ComparisonResult& result) {
  std::string text =
      "pipeline,policy,seed,decisions,ratio_overall,ratio_after_30,ratio_final,decisions_to_95,"
      "out_of_memory,peak_memory_bytes,memory_limit_bytes,cpus_used,actors,actors_fewest,"
      "bottleneck_share,seconds_per_decision,guarded_decisions,faults,recoveries\n";
  for (const ComparedRun& run : result.runs) text += row_of(run);
  return text;
}

std::string trace_csv(const ComparisonResult& result, const std::vector<PipelineModel>& pipelines) {
  std::string text =
      "pipeline,policy,seed,decision,begin_seconds,end_seconds,trained,splits_per_second,"
      "oracle_splits_per_second,cpus_busy,memory_bytes,memory_peak_bytes,memory_limit_bytes,"
      "prefetch,actors,allocation\n";
  for (const ComparedRun& run : result.runs) {
    const PipelineModel& model = model_of(run, pipelines);
    for (const Period& period : run.record.trace.periods) text += row_of(run, period, model);
  }
  return text;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace forebay
