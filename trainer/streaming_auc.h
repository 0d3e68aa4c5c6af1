#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forebay {

/// Computes the area under the ROC curve in 16 MiB, for any number of rows.
///
/// Counts scores in 2^20 bins: those of the upper 20 bits of a float in its order (sign, exponent,
/// 11 bits of the mantissa), so a bin is as wide as 1/2048 of the power of two below its scores.
/// Two rows of one bin count as a tie. Hence the true area is within `error` of the returned one,
/// for any scores: half the pairs that share a bin, over all pairs; at most half the largest share
/// of either class in one bin. A value; the order of rows does not matter.
class StreamingAuc {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;

  StreamingAuc();

  /// `score` must be finite.
  void add(float score, bool positive);

  struct Area {
    double auc = 0;
    double error = 0;  ///< At most.
  };
  /// Empty if one class has no rows.
  std::optional<Area> area() const;

 private:
  struct Bin {
    std::uint64_t positives = 0;
    std::uint64_t negatives = 0;
  };
  std::vector<Bin> bins_;
};

}  // namespace forebay
