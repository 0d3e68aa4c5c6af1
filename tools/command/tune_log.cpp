#include "tools/command/tune_log.h"

#include <filesystem>

#include "engine/run/tuning.h"

namespace forebay {

Result<tuner::DecisionLog> open_log(const std::string& place) {
  std::error_code error;
  if (!std::filesystem::is_directory(place, error)) return tuner::read_decision_log(place);
  const std::string inside = place + "/.forebay";
  const std::string folder = std::filesystem::is_directory(inside, error) ? inside : place;
  auto log = tuner::read_decision_log(decision_log_path(folder, 0));
  if (!log && log.error().code == Code::kNotFound) {
    return fail(Code::kNotFound,
                "no run in " + place + " left a decision log; name one, or a job's folder");
  }
  return log;
}

}  // namespace forebay
