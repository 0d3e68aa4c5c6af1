#include "tuner/cuts/learned_misfit.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"

namespace forebay::tuner {
namespace {

using nlohmann::json;

/// The stages of a state of Intune, or of the first one in a state of CutPolicy; a group of them
/// has one name, "load+decode". Empty: of neither policy.
std::string stages_in(const json& state) {
  if (!state.is_object()) return {};
  const json states = state.value("states", json());
  if (states.is_object() && !states.empty() && states.begin()->is_string()) {
    return stages_in(parse_json(states.begin()->get<std::string>()));
  }
  const json names = state.value("stages", json::array());
  std::string text;
  for (const json& name : names) {
    if (!name.is_string()) return {};
    text += (text.empty() ? "" : ", ") + name.get<std::string>();
  }
  return text;
}

std::string stages_in(const PipelineDescription& description) {
  std::string text;
  for (const StageDescription& stage : description.stages) {
    text += (text.empty() ? "" : ", ") + stage.name;
  }
  return text;
}

/// The same with the stages of groups by themselves.
std::string apart(const std::string& stages) {
  std::string text;
  for (const char c : stages) text += c == '+' ? std::string(", ") : std::string(1, c);
  return text;
}

bool joins_the_one_before(const StageDescription& stage) { return stage.least_actors == 0; }

/// Whether a state of CutPolicy is of groups, written as in "|+|", that these stages may form.
bool fits_groups(const json& state, const PipelineDescription& description) {
  const json states = state.value("states", json::object());
  for (const auto& [groups, inner] : states.items()) {
    if (groups.size() != description.stages.size()) return false;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i] == '+' && !joins_the_one_before(description.stages[i])) return false;
    }
  }
  return true;
}

}  // namespace

std::string describe_misfit(std::string_view learned_state,
                            const PipelineDescription& description) {
  const json state = parse_json(learned_state);
  const std::string stages = stages_in(state);
  if (stages.empty()) return "is of another version";
  const std::string ours = stages_in(description);
  if (apart(stages) != apart(ours)) {
    return "is of a run with the stages " + apart(stages) + "; this one has " + apart(ours);
  }
  const bool moves_cuts = state.contains("forebay_cuts");
  const bool has_cuts = std::ranges::any_of(description.stages, joins_the_one_before);
  const bool fits =
      moves_cuts == has_cuts && (moves_cuts ? fits_groups(state, description) : stages == ours);
  return fits ? "is of another version"
              : "is of a run that fuses other stages (pipeline.fuse; with workers none)";
}

}  // namespace forebay::tuner
