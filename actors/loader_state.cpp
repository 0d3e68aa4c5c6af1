#include "actors/loader_state.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace forebay {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
// A state lists at most the splits of one window; a longer list is a damaged file.
constexpr std::size_t kMostAhead = 1 << 20;

using Counter = std::pair<const char*, std::uint64_t Position::*>;
constexpr Counter kCounters[] = {
    {"epoch", &Position::epoch},           {"split", &Position::split},
    {"split_rows", &Position::split_rows}, {"open_split", &Position::open_split},
    {"batches", &Position::batches},       {"rows", &Position::rows},
    {"bad_rows", &Position::bad_rows},     {"held_out", &Position::held_out},
};

std::string ranges_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[first]);
    if (last > first) text += '-' + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::vector<std::uint32_t>> parse_ranges(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  while (!text.empty()) {
    const auto first = take_number(text);
    auto last = first;
    if (first && text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (!first || !last || *last < *first || *last - *first >= kMostAhead - numbers.size()) {
      return std::nullopt;
    }
    for (std::uint64_t number = *first; number <= *last; ++number) {
      numbers.push_back(static_cast<std::uint32_t>(number));
    }
    if (text.empty()) break;
    if (!text.starts_with(',') || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return numbers;
}

bool has_exactly(const json& object, const std::set<std::string>& keys) {
  if (!object.is_object() || object.size() != keys.size()) return false;
  for (const auto& [key, value] : object.items()) {
    if (!keys.contains(key)) return false;
  }
  return true;
}

std::optional<Position> parse_position(const json& object) {
  std::set<std::string> keys = {"digest", "ahead"};
  for (const auto& [name, member] : kCounters) keys.insert(name);
  if (!has_exactly(object, keys)) return std::nullopt;
  Position position;
  for (const auto& [name, member] : kCounters) {
    if (!object[name].is_number_unsigned()) return std::nullopt;
    position.*member = object[name].get<std::uint64_t>();
  }
  if (!object["digest"].is_string() || !object["ahead"].is_string()) return std::nullopt;
  if (!Digest::parse(object["digest"].get<std::string>(), position.digest)) return std::nullopt;
  auto ahead = parse_ranges(object["ahead"].get<std::string>());
  if (!ahead) return std::nullopt;
  position.ahead = std::move(*ahead);
  return position;
}

std::optional<std::map<std::string, std::string>> parse_identity(const json& object) {
  if (!object.is_object()) return std::nullopt;
  std::map<std::string, std::string> identity;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) return std::nullopt;
    identity[key] = value.get<std::string>();
  }
  return identity;
}

}  // namespace

std::string to_json(const LoaderState& state) {
  json position;
  for (const auto& [name, member] : kCounters) position[name] = state.position.*member;
  position["digest"] = state.position.digest.hex();
  position["ahead"] = ranges_of(state.position.ahead);
  const json object = {{"version", kVersion},
                       {"fingerprint", state.fingerprint},
                       {"position", std::move(position)},
                       {"identity", state.identity}};
  return json_text(object) + "\n";
}

Result<LoaderState> parse_loader_state(const std::string& text, const std::string& where) {
  const auto damaged = [&](const char* what) {
    return fail(Code::kCorrupt, where + ": " + what + "; it cannot be resumed from");
  };
  const json object = parse_json(text);
  if (object.is_discarded() || !object.is_object()) return damaged("not a loader state");
  const auto version = object.find("version");
  if (version == object.end() || !version->is_number_integer()) {
    return damaged("a loader state without a version");
  }
  if (*version != kVersion) return damaged("a loader state of another version");
  if (!has_exactly(object, {"version", "fingerprint", "position", "identity"}) ||
      !object["fingerprint"].is_string()) {
    return damaged("a loader state with missing or unknown keys");
  }
  auto position = parse_position(object["position"]);
  auto identity = parse_identity(object["identity"]);
  if (!position || !identity) return damaged("a loader state with a damaged value");
  return LoaderState{.position = std::move(*position),
                     .fingerprint = object["fingerprint"].get<std::string>(),
                     .identity = std::move(*identity)};
}

Status check_same_job(const LoaderState& saved, const LoaderState& now) {
  if (saved.fingerprint != now.fingerprint) {
    return fail(Code::kInvalid,
                "resume refused: the dataset is another one or has changed (its "
                "fingerprint was " +
                    saved.fingerprint + ", is " + now.fingerprint + ")");
  }
  std::string differences;
  const auto add = [&](const std::string& key, const std::string& was, const std::string& is) {
    if (!differences.empty()) differences += "; ";
    differences += key + " was " + was + ", is " + is;
  };
  for (const auto& [key, was] : saved.identity) {
    const auto found = now.identity.find(key);
    if (found == now.identity.end()) {
      add(key, was, "not set");
    } else if (found->second != was) {
      add(key, was, found->second);
    }
  }
  for (const auto& [key, is] : now.identity) {
    if (!saved.identity.contains(key)) add(key, "not set", is);
  }
  if (differences.empty()) return {};
  return fail(Code::kInvalid, "resume refused: " + differences);
}

}  // namespace forebay
