#include "engine/run/growth_attribution.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"

namespace forebay {
namespace {

/// Solves matrix × x = right for a symmetric, positive definite matrix, stored row by row, by
/// Gauss-Jordan elimination.
std::vector<double> solve(std::vector<double> matrix, std::vector<double> right) {
  const std::size_t n = right.size();
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    const double divisor = matrix[pivot * n + pivot];
    for (std::size_t row = 0; row < n; ++row) {
      if (row == pivot) continue;
      const double factor = matrix[row * n + pivot] / divisor;
      for (std::size_t i = pivot; i < n; ++i) matrix[row * n + i] -= factor * matrix[pivot * n + i];
      right[row] -= factor * right[pivot];
    }
  }
  for (std::size_t row = 0; row < n; ++row) right[row] /= matrix[row * n + row];
  return right;
}

}  // namespace

void GrowthAttribution::make_room(std::size_t number) {
  const std::size_t before = size();
  if (number < before) return;
  threads_.resize(number + 1);
  seen_.resize(number + 1);
  std::vector<double> grown(size() * size());
  for (std::size_t a = 0; a < before; ++a) {
    std::copy_n(overlaps_.begin() + static_cast<std::ptrdiff_t>(a * before), before,
                grown.begin() + static_cast<std::ptrdiff_t>(a * size()));
  }
  overlaps_ = std::move(grown);
}

void GrowthAttribution::note(Time at, std::int64_t bytes) {
  if (at_) {
    const double seconds = in_seconds(at - *at_);
    const auto growth = static_cast<double>(bytes - bytes_);
    for (std::size_t a = 0; a < size(); ++a) {
      if (threads_[a] == 0) continue;
      seen_[a] += threads_[a] * growth;
      for (std::size_t b = 0; b < size(); ++b) overlap(a, b) += threads_[a] * threads_[b] * seconds;
    }
  }
  at_ = at;
  bytes_ = bytes;
}

void GrowthAttribution::enter(std::size_t number, Time at, std::int64_t bytes) {
  note(at, bytes);
  make_room(number + 1);
  ++threads_[number + 1];
}

void GrowthAttribution::leave(std::size_t number, Time at, std::int64_t bytes) {
  note(at, bytes);
  --threads_[number + 1];
}

// A small ridge on the diagonal separates the rates of two functions that always ran together. The
// ridge of everything else is larger: at the start, buffers are allocated and counted within a
// millisecond or two. A rate fitted over so short a time would leave a negative rest for a long
// call that follows.
std::vector<double> GrowthAttribution::growth() const {
  constexpr double kRidge = 1e-6;
  constexpr double kSecondsWithoutGrowth = 1;
  std::vector<double> matrix = overlaps_;
  matrix[0] += kSecondsWithoutGrowth;
  for (std::size_t a = 0; a < size(); ++a) {
    double& own = matrix[a * size() + a];
    own += kRidge * own + 1e-9;
  }
  const std::vector<double> rates = solve(std::move(matrix), seen_);
  std::vector<double> growth;
  for (std::size_t a = 1; a < size(); ++a) growth.push_back(rates[a] * overlaps_[a]);
  return growth;
}

std::optional<std::size_t> GrowthAttribution::likely() const {
  const std::vector<double> all = growth();
  const auto most = std::max_element(all.begin(), all.end());
  if (most == all.end() || !(*most > 0)) return std::nullopt;
  return static_cast<std::size_t>(most - all.begin());
}

}  // namespace forebay
