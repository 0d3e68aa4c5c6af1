#include "engine/job/job_keys.h"

#include <algorithm>
#include <cmath>

#include "engine/job/known_keys.h"
#include "engine/job/nearest.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr std::string_view kTransform = "transform";

tl::unexpected<Error> unknown(const std::string& where, const std::string& key) {
  constexpr std::size_t kMostShown = 80;
  const std::string shown = key.size() <= kMostShown ? key : key.substr(0, kMostShown) + "…";
  return fail(Code::kInvalid, where + ": unknown key " + shown + did_you_mean(key, known_names()));
}

bool is_known(std::string_view name) {
  const auto names = known_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns `; did you mean X?` if the value is similar to one of the key's choices.
std::string nearest_choice(const KeyRule& rule, const ParamValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (rule.kind != ValueKind::kChoice || text == nullptr) return "";
  std::vector<std::string_view> choices;
  std::string_view rest = rule.choices;
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    choices.push_back(rest.substr(0, space));
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return did_you_mean(*text, choices);
}

Status check_table(const std::string& name, const std::string& where) {
  if (!is_known(name)) return unknown(where, name);
  if (name == kTransform) {
    return fail(Code::kInvalid, where + ": transforms are a list; write [[transform]]");
  }
  if (const KeyRule* rule = find_key(name)) {
    return fail(Code::kInvalid,
                where + ": " + name + " is a table, but must be " + describe_wanted(*rule));
  }
  return {};
}

}  // namespace

Status check_keys(const JobDocument& document) {
  for (const auto& [name, where] : document.tables) {
    if (auto checked = check_table(name, where); !checked) return checked;
  }
  for (const auto& [key, given] : document.values) {
    const KeyRule* rule = find_key(key);
    if (rule == nullptr && is_known(key)) {
      return fail(Code::kInvalid, given.where + ": " + key + " is a table; write " +
                                      (key == kTransform ? "[[transform]]" : '[' + key + ']'));
    }
    if (rule == nullptr) return unknown(given.where, key);
    if (!accepts(*rule, given.value)) {
      return fail(Code::kInvalid, given.where + ": " + key + " is " + show_value(given.value) +
                                      ", but must be " + describe_wanted(*rule) +
                                      nearest_choice(*rule, given.value));
    }
  }
  return {};
}

const ParamValue* JobKeys::find(std::string_view key) const {
  FOREBAY_CHECK(find_key(key) != nullptr);
  const auto found = document_.values.find(std::string(key));
  return found == document_.values.end() ? nullptr : &found->second.value;
}

void JobKeys::text(std::string_view key, std::string& into) const {
  if (const ParamValue* value = find(key)) into = std::get<std::string>(*value);
}

void JobKeys::texts(std::string_view key, std::vector<std::string>& into) const {
  const ParamValue* value = find(key);
  if (value == nullptr) return;
  const auto* one = std::get_if<std::string>(value);
  into =
      one != nullptr ? std::vector<std::string>{*one} : std::get<std::vector<std::string>>(*value);
}

void JobKeys::flag(std::string_view key, bool& into) const {
  if (const ParamValue* value = find(key)) into = std::get<bool>(*value);
}

void JobKeys::number(std::string_view key, double& into) const {
  const ParamValue* value = find(key);
  if (value == nullptr) return;
  const auto* whole = std::get_if<std::int64_t>(value);
  into = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(*value);
}

void JobKeys::counts(std::string_view key, std::vector<int>& into) const {
  const ParamValue* value = find(key);
  if (value == nullptr) return;
  into.clear();
  // An empty list has no element type.
  const auto* list = std::get_if<std::vector<std::int64_t>>(value);
  if (list == nullptr) return;
  for (std::int64_t item : *list) into.push_back(static_cast<int>(item));
}

void JobKeys::size(std::string_view key, std::uint64_t& into) const {
  const ParamValue* value = find(key);
  if (value == nullptr) return;
  const auto* whole = std::get_if<std::int64_t>(value);
  into = whole != nullptr ? static_cast<std::uint64_t>(*whole)
                          : parse_size(std::get<std::string>(*value)).value_or(into);
}

void JobKeys::duration(std::string_view key, std::chrono::nanoseconds& into) const {
  const ParamValue* value = find(key);
  if (value == nullptr) return;
  if (const auto* text = std::get_if<std::string>(value)) {
    into = parse_duration(*text).value_or(into);
    return;
  }
  const auto* whole = std::get_if<std::int64_t>(value);
  const double seconds = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(*value);
  into = std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

}  // namespace forebay
