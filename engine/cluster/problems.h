#pragma once

#include <chrono>
#include <map>
#include <string>

namespace forebay {

/// Tracks which problems were reported lately: the same problem is reported again after 30 seconds.
/// Problems that differ only in figures (for example a duration) are the same. Pure state.
class Problems {
 public:
  bool is_news(const std::string& problem, std::chrono::nanoseconds now);

 private:
  // Problem without figures → time of its last report.
  std::map<std::string, std::chrono::nanoseconds> said_;
};

}  // namespace forebay
