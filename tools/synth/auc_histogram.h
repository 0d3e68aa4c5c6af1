#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay {

/// The AUC of chances against the labels drawn from them, from a count per millionth: rows need not
/// be kept.
class AucHistogram {
 public:
  AucHistogram() : clicks_(kBins), others_(kBins) {}

  void add(double chance, bool click) {
    const auto bin = static_cast<std::size_t>(chance * (kBins - 1));
    ++(click ? clicks_ : others_)[bin];
  }

  /// The chance that a click had a higher chance than another row, equals counted half; nothing
  /// when one of the two never happened.
  std::optional<double> auc() const;

 private:
  static constexpr std::size_t kBins = 1 << 20;

  std::vector<std::uint64_t> clicks_;
  std::vector<std::uint64_t> others_;
};

}  // namespace forebay
