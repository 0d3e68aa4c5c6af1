#include "tools/synth/auc_histogram.h"

namespace forebay {

std::optional<double> AucHistogram::auc() const {
  double below = 0;
  double won = 0;
  double clicks = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const auto others = static_cast<double>(others_[bin]);
    won += static_cast<double>(clicks_[bin]) * (below + others / 2);
    below += others;
    clicks += static_cast<double>(clicks_[bin]);
  }
  if (clicks == 0 || below == 0) return std::nullopt;
  return won / (clicks * below);
}

}  // namespace forebay
