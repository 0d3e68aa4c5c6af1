#include "actors/transform/op_request.h"

#include <algorithm>

#include "core/base/edit_distance.h"

namespace forebay {
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
