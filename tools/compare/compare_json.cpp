#include <array>
#include <charconv>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "tools/compare/compare_result.h"
#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

using tuner::ComparedRun;
using tuner::Distribution;
using tuner::Gap;
using tuner::Period;
using tuner::PipelineModel;
using tuner::PolicySummary;
using tuner::Recovery;
using tuner::Trace;

template <class Fields>
void add_fields(Fields& fields, const ComparedRun& run) {
  const tuner::RunFigures& figures = run.figures;
  fields.add("pipeline", run.pipeline);
  fields.add("policy", run.policy);
  fields.add("seed", run.seed);
  fields.add("decisions", run.decisions);
  fields.add("ratio_overall", figures.ratio_overall);
  fields.add("ratio_after_30", figures.ratio_after_30);
  fields.add("ratio_final", figures.ratio_final);
  fields.add("decisions_to_95", figures.decisions_to_95);
  fields.add("out_of_memory", run.out_of_memory);
  fields.add("peak_memory_bytes", figures.memory_peak);
  fields.add("memory_limit_bytes", run.memory_limit);
  fields.add("cpus_used", figures.cpus_used);
  fields.add("actors", figures.actors);
  fields.add("actors_fewest", figures.actors_fewest);
  fields.add("bottleneck_share", run.bottleneck_share);
  fields.add("seconds_per_decision", run.record.seconds_per_decision);
  fields.add("guarded_decisions", run.record.guarded);
  fields.add("faults", run.record.faults);
}

JsonObject json_of(const ComparedRun& run) {
  JsonObject object;
  add_fields(object, run);
  object.add("recoveries", run.figures.recoveries, [](const Recovery& recovery) {
    return JsonObject()
        .add("at_seconds", recovery.at_seconds)
        .add("decisions_to_95", recovery.decisions_to_95);
  });
  if (run.best_known) object.add("best_known", true);
  if (run.fed_workers) object.add("fed_workers", *run.fed_workers);
  if (run.nodes.empty()) return object;
  return object.add("nodes", run.nodes, [](const tuner::NodeShare& node) {
    return JsonObject()
        .add("name", node.name)
        .add("share", node.share)
        .add("actors", node.actors)
        .add("peak_memory_bytes", node.memory_peak)
        .add("out_of_memory", node.out_of_memory);
  });
}

JsonObject json_of(const Distribution& values) {
  return JsonObject().add("mean", values.mean).add("median", values.median).add("p5", values.p5);
}

std::optional<JsonObject> json_of(const std::optional<Distribution>& values) {
  return values ? std::optional(json_of(*values)) : std::nullopt;
}

JsonObject json_of(const PolicySummary& summary) {
  return JsonObject()
      .add("runs", summary.runs)
      .add("ratio_overall", json_of(summary.ratio_overall))
      .add("ratio_after_30", json_of(summary.ratio_after_30))
      .add("ratio_final", json_of(summary.ratio_final))
      .add("decisions_to_95", summary.decisions_to_95)
      .add("never_95", summary.never_95)
      .add("recoveries", summary.recoveries)
      .add("recovery_decisions_to_95", summary.recovery_decisions)
      .add("never_recovered", summary.never_recovered)
      .add("out_of_memory", summary.out_of_memory)
      .add("actors_over_fewest", summary.actors_over_fewest)
      .add("cpus_used", summary.cpus_used)
      .add("memory_share", summary.memory_share)
      .add("memory_share_most", summary.memory_share_most)
      .add("seconds_per_decision", summary.seconds_per_decision)
      .add("faults", summary.faults);
}

JsonObject json_of(const Gap& gap) {
  return JsonObject()
      .add("pipeline", gap.pipeline)
      .add("measure", gap.measure)
      .add("policy", gap.rival)
      .add("intune", gap.ours)
      .add("ahead", gap.theirs)
      .add("by", gap.by())
      .add("cause", gap.cause);
}

/// The rows of a table in CSV, with the names of their fields in the first line; numbers in the
/// shortest form that parses to the same value.
class Csv {
 public:
  void add(std::string_view name, const std::string& text) {
    const std::string comma = row_.empty() ? "" : ",";
    if (rows_.empty()) names_ += comma + std::string(name);
    row_ += comma + csv_field(text);
  }
  void add(std::string_view name, double number) { add(name, shortest(number)); }
  void add(std::string_view name, std::integral auto number) { add(name, std::to_string(number)); }
  template <class Number>
  void add(std::string_view name, const std::optional<Number>& number) {
    if (number) return add(name, *number);
    add(name, std::string("-"));
  }
  void end_row() { rows_ += std::exchange(row_, {}) + "\n"; }
  std::string text() const { return names_ + "\n" + rows_; }

  static std::string shortest(double number) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
  }

 private:
  std::string names_, rows_, row_;
};

std::string recoveries_of(const ComparedRun& run) {
  std::string text;
  for (const tuner::Recovery& recovery : run.figures.recoveries) {
    if (!text.empty()) text += ' ';
    text += Csv::shortest(recovery.at_seconds) + ':';
    text += recovery.decisions_to_95 ? std::to_string(*recovery.decisions_to_95) : "-";
  }
  return text.empty() ? "-" : text;
}

/// Returns `load=4 decode=3`.
std::string allocation_of(const Period& period, const PipelineModel& model) {
  std::string text;
  const std::vector<std::string> names = tuner::line_names(model);
  for (std::size_t i = 0; i < period.actors.size(); ++i) {
    if (i > 0) text += ' ';
    text += names[i] + "=" + std::to_string(period.actors[i]);
  }
  return text;
}

void add_row(Csv& csv, const ComparedRun& run, const Period& period, const PipelineModel& model) {
  const Trace& trace = run.record.trace;
  const double seconds = period.end_seconds - period.begin_seconds;
  csv.add("pipeline", run.pipeline);
  csv.add("policy", run.policy);
  csv.add("seed", run.seed);
  csv.add("decision", period.decision);
  csv.add("begin_seconds", period.begin_seconds);
  csv.add("end_seconds", period.end_seconds);
  csv.add("trained", period.trained);
  csv.add("splits_per_second", static_cast<double>(period.trained) / seconds);
  csv.add("oracle_splits_per_second",
          tuner::oracle_splits(trace, period.begin_seconds, period.end_seconds) / seconds);
  csv.add("cpus_busy", period.cpus_busy);
  csv.add("memory_bytes", period.memory_bytes);
  csv.add("memory_peak_bytes", period.memory_peak);
  csv.add("memory_limit_bytes", tuner::oracle_at(trace, period.begin_seconds).memory_bytes);
  csv.add("prefetch", period.prefetch);
  csv.add("actors", std::accumulate(period.actors.begin(), period.actors.end(), 0U));
  csv.add("allocation", allocation_of(period, model));
  csv.end_row();
}

const PipelineModel& model_of(const ComparedRun& run, const std::vector<PipelineModel>& pipelines) {
  const auto found = std::ranges::find(pipelines, run.pipeline, &PipelineModel::name);
  FOREBAY_CHECK(found != pipelines.end());
  return *found;
}

}  // namespace

JsonObject json_of(const ComparisonResult& result) {
  const auto to_json = [](const auto& each) { return json_of(each); };
  JsonObject summary;
  for (const PolicySummary& each : result.summaries) summary.add(each.policy, json_of(each));
  return JsonObject()
      .add("runs", result.runs, to_json)
      .add("summary", summary)
      .add("behind", result.gaps, to_json);
}

std::string runs_csv(const ComparisonResult& result) {
  Csv csv;
  for (const ComparedRun& run : result.runs) {
    add_fields(csv, run);
    csv.add("recoveries", recoveries_of(run));
    csv.end_row();
  }
  return csv.text();
}

std::string trace_csv(const ComparisonResult& result, const std::vector<PipelineModel>& pipelines) {
  Csv csv;
  for (const ComparedRun& run : result.runs) {
    const PipelineModel& model = model_of(run, pipelines);
    for (const Period& period : run.record.trace.periods) add_row(csv, run, period, model);
  }
  return csv.text();
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return '"' + replaced(text, "\"", "\"\"") + '"';
}

}  // namespace forebay
