#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random.h"

namespace forebay::tuner {

/// Standard normal numbers by the ziggurat method (Marsaglia and Tsang 2000, in Doornik's form of
/// 2005, 256 layers): one multiplication and one comparison for 99 of 100. A value.
class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed);

  double next() {
    if (used_ == ready_.size()) refill();
    return ready_[used_++];
  }

 private:
  void refill();
  double draw();
  double from_tail(bool negative);

  Random random_;
  std::size_t used_ = 0;
  std::vector<double> ready_;  // Drawn ahead: a short loop keeps the tables in cache.
};

/// e^x with a relative error of 1e-13, for |x| below 700. Gives the same bits on every machine,
/// unlike the C library's, and is small enough to be inlined.
inline double quick_exp(double x) {
  constexpr double kRounds = 0x1.8p52;  // Adding and subtracting it rounds to a whole number.
  const double whole = x * 1.4426950408889634 + kRounds;
  const double k = whole - kRounds;
  const double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
  // Taylor's series to r^11 for |r| < ln 2 / 2, in an order that keeps its parts independent.
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double low = (1 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
  const double middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  const double high =
      (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
  const double value = low + r4 * (middle + r4 * high);
  const auto exponent = (std::bit_cast<std::uint64_t>(whole) + 1023) << 52;
  return value * std::bit_cast<double>(exponent);
}

/// Log-normal factors of mean 1 with a given coefficient of variation.
class LogNormal {
 public:
  explicit LogNormal(double variation);

  /// The next factor; 1 without drawing a number if there is no variation.
  double next(NormalSource& normal) const {
    return sigma_ == 0 ? 1 : quick_exp(sigma_ * normal.next() + shift_);
  }

 private:
  double sigma_;
  double shift_;
};

}  // namespace forebay::tuner
