#pragma once

#include <chrono>

namespace forebay {

/// `time` as a number, as rates, metrics and messages have it.
constexpr double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace forebay
