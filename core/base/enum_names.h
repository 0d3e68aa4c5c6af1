#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace forebay {

/// A value of an enum and its name in files, messages and on the command line. The names of an enum
/// are one constant array of these; messages list them in its order.
template <class Enum>
struct EnumName {
  std::string_view name;
  Enum value;
};

template <class Enum>
using EnumNames = std::span<const EnumName<Enum>>;

/// Returns the name of `value`; "unknown" for a value that the array does not have.
template <class Enum>
constexpr std::string_view name_in(EnumNames<std::type_identity_t<Enum>> names, Enum value) {
  for (const auto& each : names) {
    if (each.value == value) return each.name;
  }
  return "unknown";
}

/// Returns the value that is called `name`; nullopt if there is none.
template <class Enum, std::size_t N>
constexpr std::optional<Enum> value_in(const EnumName<Enum> (&names)[N], std::string_view name) {
  for (const auto& each : names) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

/// Returns all names, separated by `between`: "off | advise | on".
template <class Enum, std::size_t N>
std::string list_names(const EnumName<Enum> (&names)[N], std::string_view between = " | ") {
  std::string text;
  for (const auto& each : names) text.append(text.empty() ? "" : between).append(each.name);
  return text;
}

}  // namespace forebay
