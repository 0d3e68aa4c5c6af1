#include "tuner/sim/noise.h"

#include <array>
#include <cmath>

namespace forebay::tuner {
namespace {

constexpr std::size_t kLayers = 256;
constexpr std::size_t kDrawnAhead = 64;
constexpr double kTail = 3.6541528853610088;      // Where the tail begins.
constexpr double kArea = 0.00492867323397465524;  // The area of each layer, for 256 layers.

double density(double x) { return std::exp(-0.5 * x * x); }

/// The layers' right ends, from the widest inwards, and the share of each that lies wholly under
/// the curve.
struct Layers {
  std::array<double, kLayers + 1> edge{};
  std::array<double, kLayers> inside{};

  Layers() {
    edge[0] = kArea / density(kTail);
    edge[1] = kTail;
    for (std::size_t i = 2; i < kLayers; ++i) {
      edge[i] = std::sqrt(-2 * std::log(kArea / edge[i - 1] + density(edge[i - 1])));
    }
    for (std::size_t i = 0; i < kLayers; ++i) inside[i] = edge[i + 1] / edge[i];
  }
};

const Layers& layers() {
  static const Layers made;
  return made;
}

}  // namespace

NormalSource::NormalSource(std::uint64_t seed)
    : random_(seed), used_(kDrawnAhead), ready_(kDrawnAhead) {}

void NormalSource::refill() {
  for (double& value : ready_) value = draw();
  used_ = 0;
}

double NormalSource::draw() {
  const Layers& table = layers();
  for (;;) {
    const std::uint64_t bits = random_.next();
    const std::size_t layer = bits % kLayers;  // The low bits; the value takes the high 53.
    const double share = static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1.0p-52;
    const double x = share * table.edge[layer];
    if (std::abs(share) < table.inside[layer]) return x;
    if (layer == 0) return from_tail(share < 0);
    const double upper = density(table.edge[layer + 1]);
    const double lower = density(table.edge[layer]);
    if (lower + random_.uniform() * (upper - lower) < density(x)) return x;
  }
}

double NormalSource::from_tail(bool negative) {
  // Marsaglia 1964: exact beyond kTail.
  for (;;) {
    const double x = -std::log(1 - random_.uniform()) / kTail;
    const double y = -std::log(1 - random_.uniform());
    if (2 * y >= x * x) return negative ? -(kTail + x) : kTail + x;
  }
}

LogNormal::LogNormal(double variation)
    : sigma_(std::sqrt(std::log1p(variation * variation))), shift_(-0.5 * sigma_ * sigma_) {}

}  // namespace forebay::tuner
