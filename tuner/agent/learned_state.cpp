#include "tuner/agent/learned_state.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace forebay::tuner {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kLongest = 4 << 20;

json names_of(const PipelineDescription& description) {
  json names = json::array();
  for (const StageDescription& stage : description.stages) names.push_back(stage.name);
  return names;
}

}  // namespace

std::string encode_learned_state(const LearnedState& learned_state) {
  const json text{{"version", kVersion},
                  {"stages", names_of(learned_state.description)},
                  {"estimates", learned_state.stages},
                  {"last_layer", learned_state.last_layer}};
  return json_text(text);
}

std::optional<LearnedState> decode_learned_state(std::string_view text,
                                                 const PipelineDescription& description) {
  if (text.size() > kLongest) return std::nullopt;
  const json found = parse_json(text);
  if (!found.is_object() || found.value("version", json()) != json(kVersion) ||
      found.value("stages", json()) != names_of(description)) {
    return std::nullopt;
  }
  LearnedState learned_state;
  learned_state.description = description;
  try {
    learned_state.stages = found.at("estimates").get<std::vector<std::vector<double>>>();
    learned_state.last_layer = found.at("last_layer").get<std::vector<float>>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
  for (const float weight : learned_state.last_layer) {
    if (!std::isfinite(weight)) return std::nullopt;
  }
  return learned_state;
}

}  // namespace forebay::tuner
