#include "engine/cluster/problems.h"

#include <cctype>

namespace forebay {

bool Problems::is_news(const std::string& problem, std::chrono::nanoseconds now) {
  constexpr std::chrono::seconds kAgain(30);
  std::string bare = problem;
  std::erase_if(bare, [](unsigned char letter) { return std::isdigit(letter) != 0; });
  const auto [said, fresh] = said_.emplace(bare, now);
  if (!fresh && now - said->second < kAgain) return false;
  said->second = now;
  return true;
}

}  // namespace forebay
