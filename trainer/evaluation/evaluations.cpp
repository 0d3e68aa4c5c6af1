#include "trainer/evaluation/evaluations.h"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/json_text.h"

namespace forebay {

// In the order of their names, as checkpoints have them.
template <class Fields>
void list(Fields& fields, Evaluated& value) {
  Quality& quality = value.quality;
  fields("auc", quality.auc);
  fields("auc_error", quality.auc_error);
  fields("calibration", quality.calibration);
  fields("log_loss", quality.log_loss);
  fields("normalized_entropy", quality.normalized_entropy);
  fields("positives", quality.positives);
  fields("rows", quality.rows);
  fields("step", value.step);
}

namespace {

constexpr std::uint64_t kRecordVersion = 1;

struct Record {
  std::vector<Evaluated> evaluations;
  std::uint64_t version = kRecordVersion;
};

template <class Fields>
void list(Fields& fields, Record& value) {
  fields("evaluations", value.evaluations);
  fields("version", value.version);
}

/// The figure's value, with its sign such that larger is better.
std::optional<double> merit(TrainerSpec::Metric metric, const Quality& quality) {
  if (metric == TrainerSpec::Metric::kAuc) return quality.auc;
  if (!quality.log_loss) return std::nullopt;
  return -*quality.log_loss;
}

bool is_of_one_class(const Quality& quality) {
  return quality.positives == 0 || quality.positives == quality.rows;
}

}  // namespace

EvaluationState judge(const TrainerSpec& spec, std::span<const Evaluated> evaluations) {
  EvaluationState state;
  std::optional<double> best;
  for (const Evaluated& evaluated : evaluations) {
    const auto now = merit(spec.early_stopping_metric, evaluated.quality);
    if (!now && is_of_one_class(evaluated.quality)) continue;
    ++state.without_gain;
    if (!now || (best && *now <= *best)) continue;
    best = now;
    state.best_step = evaluated.step;
    state.without_gain = 0;
  }
  state.enough = spec.early_stopping > 0 && state.without_gain >= spec.early_stopping;
  return state;
}

std::string to_json(std::span<const Evaluated> evaluations) {
  if (evaluations.empty()) return {};
  Record record{.evaluations = {evaluations.begin(), evaluations.end()}};
  return json_text(JsonFieldWriter::written(record)) + "\n";
}

std::optional<std::vector<Evaluated>> parse_evaluations(const std::string& text) {
  Record record;
  if (text.empty()) return record.evaluations;
  const nlohmann::json object = parse_json(text);
  std::string problem;
  JsonFieldReader fields(object, "", problem);
  list(fields, record);
  fields.finish();
  if (!problem.empty() || record.version != kRecordVersion) return std::nullopt;
  std::uint64_t before = 0;
  for (const Evaluated& each : record.evaluations) {
    const bool follows = &each == &record.evaluations.front() || before < each.step;
    const Quality& quality = each.quality;
    if (!follows || quality.positives > quality.rows || !std::isfinite(quality.auc_error)) {
      return std::nullopt;
    }
    before = each.step;
  }
  return std::move(record.evaluations);
}

}  // namespace forebay
