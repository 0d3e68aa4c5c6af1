#include "actors/transform/op_request.h"

#include "core/base/nearest.h"

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
  const std::vector<std::string_view> names(candidates.begin(), candidates.end());
  const std::string_view nearest = nearest_of(wrong, names);
  return nearest.empty() ? "" : "; did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace forebay
