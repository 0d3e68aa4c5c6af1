#include "trainer/evaluations.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace forebay {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

json number_or_null(const std::optional<double>& number) { return number ? json(*number) : json(); }

json to_object(const Evaluated& evaluated) {
  const Quality& quality = evaluated.quality;
  return {{"step", evaluated.step},
          {"rows", quality.rows},
          {"positives", quality.positives},
          {"auc", number_or_null(quality.auc)},
          {"auc_error", quality.auc_error},
          {"log_loss", number_or_null(quality.log_loss)},
          {"normalized_entropy", number_or_null(quality.normalized_entropy)},
          {"calibration", number_or_null(quality.calibration)}};
}

bool read_count(const json& object, const char* key, std::uint64_t& into) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return false;
  into = found->get<std::uint64_t>();
  return true;
}

bool read_figure(const json& object, const char* key, std::optional<double>& into) {
  const auto found = object.find(key);
  if (found == object.end() || !(found->is_number() || found->is_null())) return false;
  if (found->is_number()) into = found->get<double>();
  return true;
}

std::optional<Evaluated> parse_one(const json& object) {
  if (!object.is_object()) return std::nullopt;
  Evaluated evaluated;
  Quality& quality = evaluated.quality;
  std::optional<double> error;
  const bool whole =
      read_count(object, "step", evaluated.step) && read_count(object, "rows", quality.rows) &&
      read_count(object, "positives", quality.positives) &&
      read_figure(object, "auc", quality.auc) && read_figure(object, "auc_error", error) && error &&
      read_figure(object, "log_loss", quality.log_loss) &&
      read_figure(object, "normalized_entropy", quality.normalized_entropy) &&
      read_figure(object, "calibration", quality.calibration);
  if (!whole) return std::nullopt;
  quality.auc_error = *error;
  return evaluated;
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
  json list = json::array();
  for (const Evaluated& evaluated : evaluations) list.push_back(to_object(evaluated));
  return json_text(json{{"version", kVersion}, {"evaluations", std::move(list)}}) + "\n";
}

std::optional<std::vector<Evaluated>> parse_evaluations(const std::string& text) {
  std::vector<Evaluated> evaluations;
  if (text.empty()) return evaluations;
  const json object = parse_json(text);
  if (!object.is_object() || object.value("version", json()) != kVersion) return std::nullopt;
  const json list = object.value("evaluations", json());
  if (!list.is_array()) return std::nullopt;
  evaluations.reserve(list.size());
  for (const json& each : list) {
    auto evaluated = parse_one(each);
    const bool follows =
        evaluated && (evaluations.empty() || evaluations.back().step < evaluated->step);
    if (!follows || evaluated->quality.positives > evaluated->quality.rows) return std::nullopt;
    evaluations.push_back(*evaluated);
  }
  return evaluations;
}

}  // namespace forebay
