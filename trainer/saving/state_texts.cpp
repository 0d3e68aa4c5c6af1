#include "trainer/saving/state_texts.h"

#include <array>
#include <deque>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace forebay {
namespace {

using nlohmann::json;

constexpr const char* kLossesFile = "losses.json";
constexpr const char* kEvaluationsFile = "evaluations.json";
constexpr std::array kNeeded = {kLoaderFile, kLossesFile, kEvaluationsFile};

std::string losses_text(const LossWindow& losses) {
  return json_text(json{{"steps", losses.steps()}, {"last", losses.last()}}) + "\n";
}

std::optional<LossWindow> parse_losses(const std::string& text) {
  const json object = parse_json(text);
  if (object.is_discarded() || !object.is_object() || object.size() != 2) return std::nullopt;
  if (!object.contains("steps") || !object["steps"].is_number_unsigned()) return std::nullopt;
  if (!object.contains("last") || !object["last"].is_array()) return std::nullopt;
  std::deque<double> last;
  for (const json& loss : object["last"]) {
    if (!loss.is_number()) return std::nullopt;
    last.push_back(loss.get<double>());
  }
  const auto steps = object["steps"].get<std::uint64_t>();
  if (last.size() != LossWindow::size_after(steps)) return std::nullopt;
  return LossWindow(steps, std::move(last));
}

}  // namespace

std::map<std::string, std::string> to_texts(const TrainState& state) {
  auto texts = state.texts;
  texts[kLoaderFile] = to_json(state.loader);
  texts[kLossesFile] = losses_text(state.losses);
  texts[kEvaluationsFile] = state.evaluations;
  return texts;
}

std::span<const char* const> needed_texts() { return kNeeded; }

Result<TrainState> from_texts(std::map<std::string, std::string> texts, const std::string& folder) {
  const auto take = [&](const char* name) { return std::move(texts.extract(name).mapped()); };
  TrainState state;
  auto loader = parse_loader_state(take(kLoaderFile), folder + "/" + kLoaderFile);
  if (!loader) return pass(loader);
  state.loader = std::move(*loader);
  auto losses = parse_losses(take(kLossesFile));
  if (!losses) return fail(Code::kCorrupt, folder + "/" + kLossesFile + " is damaged");
  state.losses = std::move(*losses);
  state.evaluations = take(kEvaluationsFile);
  state.texts = std::move(texts);
  return state;
}

}  // namespace forebay
