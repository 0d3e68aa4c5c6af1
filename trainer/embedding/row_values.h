#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/random.h"

namespace forebay {

/// The first values of a table's rows: uniform within ±1/√rows (Naumov et al. 2019), a function of
/// (seed, feature, key) alone, so that a row is the same wherever and whenever it is first needed.
/// Values after the first `dim` begin at 0.
class RowValues {
 public:
  RowValues(std::uint64_t seed, std::size_t feature, std::int64_t rows, std::size_t dim)
      : seed_(mix64(seed, feature)),
        bound_(static_cast<float>(1 / std::sqrt(static_cast<double>(rows)))),
        dim_(dim) {}

  void fill(std::int64_t key, std::span<float> weights) const {
    std::uint64_t at = mix64(seed_, static_cast<std::uint64_t>(key));
    for (std::size_t i = 0; i < dim_; i += 2, at += 0x9e3779b97f4a7c15ULL) {
      const std::uint64_t bits = mix64(at);
      weights[i] = within(static_cast<std::uint32_t>(bits));
      if (i + 1 < dim_) weights[i + 1] = within(static_cast<std::uint32_t>(bits >> 32));
    }
    for (std::size_t i = dim_; i < weights.size(); ++i) weights[i] = 0;
  }

 private:
  /// Uniform in 24 bits, exact in a float, symmetric about 0.
  float within(std::uint32_t bits) const {
    const auto steps = static_cast<std::int32_t>(bits >> 8);
    return static_cast<float>(2 * steps + 1 - (1 << 24)) * (0x1.0p-24f * bound_);
  }

  std::uint64_t seed_;
  float bound_;
  std::size_t dim_;
};

}  // namespace forebay
