#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace forebay {

/// The number of letters to add, drop, change or swap with a neighbour to turn `a` into `b`: the
/// optimal string alignment distance (Damerau 1964, each letter edited once). For suggestions.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate with the fewest edits (insert, delete, replace, swap neighbours) from
/// `name`; the first of equals. Empty if none is near: half of the letters of the longer one would
/// change, but for one of two. A candidate counts as one edit if its last dotted part equals that
/// of `name`, or if it begins with `name`.
std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates);

/// Returns the candidate with the fewest edits from `name`, however many they are; letters of
/// `name` beyond the 200th do not count. Empty without candidates.
std::string_view closest_of(std::string_view name, std::span<const std::string_view> candidates);

/// Returns `; did you mean X?`, or "" if no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace forebay
