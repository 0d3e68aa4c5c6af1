#include "core/base/text/nearest.h"

#include <algorithm>
#include <vector>

namespace forebay {
namespace {

constexpr std::size_t kMostLetters = 200;  // A key of megabytes is similar to no known key.

std::string_view last_part(std::string_view dotted) {
  const std::size_t dot = dotted.rfind('.');
  return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

bool is_short_for(std::string_view name, std::string_view candidate) {
  constexpr std::size_t kFewest = 3;
  return last_part(name).size() >= kFewest && candidate.starts_with(name);
}

/// Edits from `name` to `candidate`; a namesake and a longer form count as one.
std::size_t edits_to(std::string_view name, std::string_view candidate) {
  const std::size_t edits = edit_distance(name, candidate);
  const bool namesake = last_part(candidate) == last_part(name);
  return namesake || is_short_for(name, candidate) ? std::min<std::size_t>(edits, 1) : edits;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string_view closest_of(std::string_view name, std::span<const std::string_view> candidates) {
  name = name.substr(0, kMostLetters);
  const auto edits = [&](std::string_view candidate) { return edits_to(name, candidate); };
  const auto best = std::ranges::min_element(candidates, {}, edits);
  return best == candidates.end() ? std::string_view() : *best;
}

std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > kMostLetters) return {};
  std::vector<std::string_view> near;
  for (std::string_view candidate : candidates) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t edits = edits_to(name, candidate);
    if (edits * 2 < longer || (edits == 1 && longer == 2)) near.push_back(candidate);
  }
  return closest_of(name, near);
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_of(name, candidates);
  return nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace forebay
