#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay {

/// The AUC of click probabilities against the labels drawn from them, from one counter per
/// millionth: rows need not be kept.
class AucHistogram {
 public:
  AucHistogram() : clicks_(kBins), others_(kBins) {}

  void add(double chance, bool click) {
    const auto bin = static_cast<std::size_t>(chance * (kBins - 1));
    ++(click ? clicks_ : others_)[bin];
  }

  /// Returns the probability that a click had a higher click probability than another row, equal
  /// ones counted half; nullopt if there were no clicks or no other rows.
  std::optional<double> auc() const;

 private:
  static constexpr std::size_t kBins = 1 << 20;

  std::vector<std::uint64_t> clicks_;
  std::vector<std::uint64_t> others_;
};

}  // namespace forebay
