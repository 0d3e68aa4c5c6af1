#pragma once

#include <cstdint>
#include <deque>
#include <optional>

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

  void add(double loss);
  /// Empty before the first step.
  std::optional<double> mean() const;

  std::uint64_t steps() const { return steps_; }
  const std::deque<double>& last() const { return last_; }

  bool operator==(const LossWindow&) const = default;

 private:
  std::uint64_t steps_ = 0;
  std::deque<double> last_;
};

}  // namespace forebay
