#pragma once

#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

namespace forebay {

/// The mean loss over the last 1 % of all steps since the start, at least one.
///
/// Keeps only the losses of that 1 %: the window's first step never moves back.
class LossWindow {
 public:
  LossWindow() = default;
  /// Continues after `steps` steps; `last` are the losses of their last 1 %.
  LossWindow(std::uint64_t steps, std::deque<double> last)
      : steps_(steps), last_(std::move(last)) {}

  static std::uint64_t size_after(std::uint64_t steps) {
    return steps == 0 ? 0 : steps < 200 ? 1 : steps / 100;
  }

  void add(double loss) {
    ++steps_;
    last_.push_back(loss);
    if (last_.size() > size_after(steps_)) last_.pop_front();
  }
  /// Empty before the first step.
  std::optional<double> mean() const {
    if (last_.empty()) return std::nullopt;
    return std::accumulate(last_.begin(), last_.end(), 0.0) / static_cast<double>(last_.size());
  }

  std::uint64_t steps() const { return steps_; }
  const std::deque<double>& last() const { return last_; }

  bool operator==(const LossWindow&) const = default;

 private:
  std::uint64_t steps_ = 0;
  std::deque<double> last_;
};

}  // namespace forebay
