#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/enum_names.h"

namespace forebay {

/// One key of the job file, bound to the member that it sets. The functions below make the keys of
/// each kind; the members outlive them.
struct JobKey {
  std::string name;    ///< Dotted.
  std::string wanted;  ///< Follows "must be": `a whole number from 1 to 16777216`.
  /// Sets the member; false for a value of another kind or outside the range.
  std::function<bool(const ParamValue&)> read;
  std::vector<std::string_view> choices = {};
};

/// Bound of a count that may be as large as it gets.
inline constexpr double kAnyCount = 9223372036854775807.0;

/// The whole number in [low, high] that `value` is.
std::optional<std::int64_t> whole_in(const ParamValue& value, double low, double high);
std::string describe_count(double low, double high);

/// A whole number in [low, high].
template <class T>
JobKey count(std::string name, T& into, double low, double high = kAnyCount) {
  return {std::move(name), describe_count(low, high), [&into, low, high](const ParamValue& value) {
            const auto whole = whole_in(value, low, high);
            if (whole) into = static_cast<T>(*whole);
            return whole.has_value();
          }};
}
/// A list of whole numbers in [low, high], at least one.
JobKey counts(std::string name, std::vector<int>& into, double low, double high);
/// Any number in [low, high].
JobKey number(std::string name, double& into, double low, double high);
/// Any finite number; the member stays empty without the key.
JobKey number(std::string name, std::optional<double>& into);
/// Bytes in [low, high], as a whole number or `512MiB`.
JobKey size(std::string name, std::uint64_t& into, double low, double high);
/// Seconds in [low, high], as a number or `250ms`.
JobKey duration(std::string name, std::chrono::nanoseconds& into, double low, double high);
JobKey flag(std::string name, bool& into);
JobKey text(std::string name, std::string& into);
/// A list of strings; one string is a list of one.
JobKey texts(std::string name, std::vector<std::string>& into);
/// One ASCII character.
JobKey letter(std::string name, char& into);
/// One ASCII character, or none.
JobKey letter(std::string name, std::string& into);
/// Where keys of stores come from, never a key itself: `env`, `profile:NAME` or `anonymous`.
JobKey credentials(std::string name, std::string& into);
/// true, false or "file".
JobKey shuffle(std::string name, OrderSpec::Shuffle& into);
/// A list of lists of strings.
JobKey groups(std::string name, std::vector<std::vector<std::string>>& into);
/// "auto", false, or a list of lists of names.
JobKey fuse(std::string name, FuseSpec& into);

/// One of some words.
JobKey choice(std::string name, std::string& into, std::vector<std::string_view> words);
/// One of the names of an enum.
template <class Enum, std::size_t N>
JobKey choice(std::string name, Enum& into, const EnumName<Enum> (&names)[N]) {
  JobKey key{std::move(name), list_names(names), [&into, &names](const ParamValue& value) {
               const auto* text = std::get_if<std::string>(&value);
               const auto chosen = text != nullptr ? value_in(names, *text) : std::nullopt;
               if (chosen) into = *chosen;
               return chosen.has_value();
             }};
  for (const auto& each : names) key.choices.push_back(each.name);
  return key;
}

/// Returns `value` in TOML, cut to 60 characters.
std::string show_value(const ParamValue& value);

}  // namespace forebay
