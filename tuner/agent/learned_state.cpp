#include "tuner/agent/learned_state.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace forebay::tuner {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kLongest = 4 << 20;

json names_of(const PipelineDescription& layout) {
  json names = json::array();
  for (const StageDescription& stage : layout.stages) names.push_back(stage.name);
  return names;
}

}  // namespace

std::string encode_experience(const LearnedState& experience) {
  const json text{{"version", kVersion},
                  {"stages", names_of(experience.layout)},
                  {"estimates", experience.stages},
                  {"last_layer", experience.last_layer}};
  return json_text(text);
}

std::optional<LearnedState> decode_experience(std::string_view text,
                                              const PipelineDescription& layout) {
  if (text.size() > kLongest) return std::nullopt;
  const json found = parse_json(text);
  if (!found.is_object() || found.value("version", json()) != json(kVersion) ||
      found.value("stages", json()) != names_of(layout)) {
    return std::nullopt;
  }
  LearnedState experience;
  experience.layout = layout;
  try {
    experience.stages = found.at("estimates").get<std::vector<std::vector<double>>>();
    experience.last_layer = found.at("last_layer").get<std::vector<float>>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
  for (const float weight : experience.last_layer) {
    if (!std::isfinite(weight)) return std::nullopt;
  }
  return experience;
}

}  // namespace forebay::tuner
