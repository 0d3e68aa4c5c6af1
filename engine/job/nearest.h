#pragma once

#include <span>
#include <string>
#include <string_view>

namespace forebay {

/// The candidate that takes the fewest edits (insert, delete, replace, swap neighbours) to reach
/// from `name`; the first of equals. Empty when none is near: more than half of the longer one's
/// letters would change. A candidate whose last dotted part is the name's, or that the name is the
/// beginning of, counts as one edit.
std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates);

/// `; did you mean X?`, or nothing when no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace forebay
