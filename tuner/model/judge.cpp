#include "tuner/model/judge.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::tuner {
namespace {

constexpr double kCuriosity =
    0.3;  // value of one standard deviation of doubt: trying reduces doubt
constexpr double kMostPrice = 0.2;    // up to which a value grows with the rate in each world
constexpr double kBoundError = 1e-6;  // relative, of rounding

static_assert((1 - kMostPrice) * (1 - kMostPrice) >
              kCuriosity * kCuriosity * (PossibleWorlds::kWorlds - 1));

Planned summary(const PossibleWorlds::Rates& rates) {
  double sum = 0;
  double square = 0;
  for (const double rate : rates) {
    sum += rate;
    square += rate * rate;
  }
  const double mean = sum / PossibleWorlds::kWorlds;
  const double variance = std::max(0.0, square / PossibleWorlds::kWorlds - mean * mean);
  return {.expected_splits_per_second = mean, .uncertainty = std::sqrt(variance) / mean};
}

}  // namespace

Planned Judge::judged(Allocation allocation) const {
  Planned judged = summary(worlds_.expected(allocation.actors, worlds_.steady(allocation.actors)));
  judged.allocation = std::move(allocation);
  return judged;
}

double Judge::value(const Planned& planned) const {
  return value(planned, price(reward_, description_, limits_, planned.allocation));
}

double Judge::value(const Planned& planned, double price) const {
  return planned.expected_splits_per_second * (1 - price + kCuriosity * planned.uncertainty);
}

// Noise only takes from the steady rates. A value grows with the rate in each of n worlds, by
// (1 - price) / n through the mean, while the doubt takes no more than kCuriosity · √(n - 1) / n:
// so the value of the steady rates is a bound, but for large prices.
bool Judge::may_exceed(const Allocation& allocation, double least) const {
  const double dear = price(reward_, description_, limits_, allocation);
  if (dear > kMostPrice) return true;
  const double bound = value(summary(worlds_.steady(allocation.actors)), dear);
  return bound * (1 + kBoundError) > least;
}

}  // namespace forebay::tuner
