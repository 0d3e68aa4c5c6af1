#pragma once

#include <chrono>
#include <map>
#include <string>

namespace forebay {

/// Which problems a person has heard of lately: the same one is news again after half a minute.
/// Figures in it (for how long it has lasted) do not make it another. Pure state.
class Problems {
 public:
  bool is_news(const std::string& problem, std::chrono::nanoseconds now);

 private:
  std::map<std::string, std::chrono::nanoseconds> said_;  // without figures, and when
};

}  // namespace forebay
