#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/dataset_spec.h"

namespace forebay {

/// Kinds of values that a key may have.
enum class ValueKind : std::uint8_t {
  kText,
  kTexts,   ///< A list of strings; one string is a list of one.
  kLetter,  ///< One ASCII character; may be empty if `low` is 0.
  kFlag,
  kCount,     ///< A whole number in [low, high].
  kCounts,    ///< A list of them.
  kNumber,    ///< Any number in [low, high].
  kSize,      ///< Bytes, in [low, high].
  kDuration,  ///< Seconds, in [low, high].
  kChoice,    ///< One of `choices`.
  kShuffle,   ///< true, false or "file".
};

/// One key of the job file.
struct KeyRule {
  std::string_view name;  ///< Dotted.
  ValueKind kind = ValueKind::kText;
  double low = 0;
  double high = 0;
  std::string_view choices = {};  ///< Separated by single spaces.
};

/// Returns every key outside `[[transform]]`.
std::span<const KeyRule> known_keys();

/// Returns the rule for `name`, or null.
const KeyRule* find_key(std::string_view name);

/// Returns every name that may be in a job file, keys and tables; used for suggestions.
std::vector<std::string_view> known_names();

/// Describes the value that `rule` wants, to follow "must be": `a whole number from 1 to 16777216`.
std::string describe_wanted(const KeyRule& rule);

/// Returns whether `value` has the kind and the range that `rule` wants.
bool accepts(const KeyRule& rule, const ParamValue& value);

/// Returns `value` in TOML, cut to 60 characters.
std::string show_value(const ParamValue& value);

}  // namespace forebay
