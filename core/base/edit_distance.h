#pragma once

#include <cstddef>
#include <string_view>

namespace forebay {

/// The number of letters to add, drop, change or swap with a neighbour to turn `a` into `b`: the
/// optimal string alignment distance (Damerau 1964, each letter edited once). For suggestions.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace forebay
