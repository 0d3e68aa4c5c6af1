#include "trainer/loss_window.h"

namespace forebay {

void LossWindow::add(double loss) {
  ++steps_;
  last_.push_back(loss);
  if (last_.size() > size_after(steps_)) last_.pop_front();
}

std::optional<double> LossWindow::mean() const {
  if (last_.empty()) return std::nullopt;
  double sum = 0;
  for (double loss : last_) sum += loss;
  return sum / static_cast<double>(last_.size());
}

}  // namespace forebay
