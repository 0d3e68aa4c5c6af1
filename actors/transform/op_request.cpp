#include "actors/transform/op_request.h"

#include <algorithm>
#include <numeric>

namespace forebay {
namespace {

/// Levenshtein's distance, one row of the table at a time.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string OpRequest::name() const {
  return "transform " + std::to_string(number_) + " (" + spec_.op + ")";
}

void OpRequest::refuse(const std::string& where, const std::string& what) {
  refuse(where + ": " + what);
}

void OpRequest::refuse(const std::string& what) {
  if (!refused()) status_ = fail(Code::kInvalid, name() + ": " + what);
}

std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& candidates) {
  const std::string* nearest = nullptr;
  std::size_t best = std::max<std::size_t>(1, wrong.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wrong, candidate);
    if (distance < best) {
      best = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? "" : "; did you mean \"" + *nearest + "\"?";
}

}  // namespace forebay
