#pragma once

#include <cstddef>
#include <string_view>

namespace forebay {

/// How many letters to add, drop, change or swap with a neighbour to make `b` of `a`: the optimal
/// string alignment distance (Damerau 1964, each letter edited once). For suggestions.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace forebay
