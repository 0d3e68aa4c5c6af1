#include "tuner/model/contention_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace forebay::tuner {
namespace {

// Up to stages that hardly scale at all: a time that no hypothesis explains would count as a
// change.
constexpr std::array kAlphas{0.0, 0.003, 0.01, 0.02, 0.035, 0.055, 0.08, 0.12, 0.2, 0.35, 0.6, 1.0};
constexpr std::array kBetas{0.0,  1e-5, 3e-5, 1e-4,   2.5e-4, 6e-4, 1.2e-3, 2.2e-3,
                            4e-3, 8e-3, 2e-2, 4.5e-2, 0.1,    0.22, 0.5};
constexpr std::size_t kHypotheses = kAlphas.size() * kBetas.size();
constexpr double kUsualAlpha = 0.2;  // stages that contend more are rare: they are believed
constexpr double kUsualBeta = 0.02;  // when seen, but not assumed before
constexpr double kRare = 0.02;

constexpr double kModelVariance = 0.004 * 0.004;  // error of the law itself
constexpr double kDrift = 0.006 * 0.006;          // of the scale, per interval
constexpr double kChangeSigmas = 3.5;
constexpr double kChangeLeast = 0.07;  // of the logarithm: smaller changes are followed as drift
constexpr double kPlausible = 1e-4;    // weight from which a hypothesis may explain a change
constexpr double kSameActors = 0.1;    // relative; counts as the same number of actors
constexpr double kOutlastDeviation = 0.25;  // of the logarithm of the time of a first split
constexpr double kFloor = 1e-7;             // every hypothesis keeps at least this weight
constexpr double kRestored = 0.2 * 0.2;     // variance of a scale restored from another run

StageCost law(std::size_t hypothesis, double seconds) {
  return {.seconds = seconds,
          .alpha = kAlphas[hypothesis / kBetas.size()],
          .beta = kBetas[hypothesis % kBetas.size()]};
}

double log_slow(std::size_t hypothesis, double actors) {
  return std::log(law(hypothesis, 1).slow(actors));
}

double rarity(std::size_t hypothesis) {
  const StageCost cost = law(hypothesis, 1);
  return cost.alpha > kUsualAlpha || cost.beta > kUsualBeta ? kRare : 1;
}

// Half of the stages do not contend; of the rest, mild contention is likelier than strong.
std::vector<double> prior() {
  std::vector<double> weights(kHypotheses);
  double contended = 0;
  for (std::size_t h = 1; h < kHypotheses; ++h) {
    weights[h] = 1 / ((1 + law(h, 1).alpha / 0.03) * (1 + law(h, 1).beta / 1e-3));
    weights[h] *= rarity(h);
    contended += weights[h];
  }
  for (double& weight : weights) weight *= 0.5 / contended;
  weights[0] = 0.5;
  return weights;
}

// If the number of actors changed as well, the surprise may mean that the belief about contention
// is wrong: replaces half of the belief by the prior.
void doubt(std::vector<double>& weights) {
  static const std::vector<double> before = prior();
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    weights[h] = 0.5 * (weights[h] / sum + before[h]);
  }
}

void normalise(std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight = weight / sum + kFloor;
}

}  // namespace

ContentionFit::ContentionFit() : weights_(prior()), log_seconds_(kHypotheses, 0) {}

bool ContentionFit::observe(double actors, double seconds, double variance) {
  const double noise = variance + kModelVariance;
  std::array<double, kHypotheses> residuals{};
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    residuals[h] = std::log(seconds) - log_slow(h, actors) - log_seconds_[h];
    if (weights_[h] > kPlausible * rarity(h)) nearest = std::min(nearest, std::abs(residuals[h]));
  }

  const bool first = !seen();
  const double before = (first ? 0 : 1 / precision_) + kDrift;
  const double expected = before + noise;
  const bool surprise = nearest > kChangeLeast && nearest > kChangeSigmas * std::sqrt(expected);
  if (surprise && std::abs(actors - actors_) > kSameActors * actors_) doubt(weights_);
  actors_ = actors;
  if (first || unsettled_ || surprise) {
    for (std::size_t h = 0; h < kHypotheses; ++h) log_seconds_[h] += residuals[h];
    precision_ = 1 / noise;
    const bool changed = !first;
    unsettled_ = changed && !unsettled_;
    return changed;
  }

  double least = std::numeric_limits<double>::infinity();
  for (const double residual : residuals) least = std::min(least, residual * residual);
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    weights_[h] *= std::exp(-0.5 * (residuals[h] * residuals[h] - least) / expected);
    log_seconds_[h] += residuals[h] * before / expected;
  }
  normalise(weights_);
  precision_ = 1 / before + 1 / noise;
  return false;
}

void ContentionFit::outlast(double actors, double seconds) {
  double least = std::numeric_limits<double>::infinity();
  std::array<double, kHypotheses> short_by{};  // of the logarithm; 0: a split was not yet expected
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    const double expected = log_seconds_[h] + log_slow(h, actors);
    short_by[h] = std::max(0.0, std::log(seconds) - expected);
    least = std::min(least, short_by[h]);
  }
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    const double sigmas = (short_by[h] - least) / kOutlastDeviation;
    weights_[h] *= std::exp(-0.5 * sigmas * sigmas);
    log_seconds_[h] += least;
  }
  normalise(weights_);
}

StageCost ContentionFit::mean() const {
  double sum = 0;
  double seconds = 0;
  double alpha = 0;
  double beta = 0;
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    const double share = weights_[h] * std::exp(log_seconds_[h]);
    sum += weights_[h];
    seconds += share;
    alpha += share * law(h, 1).alpha;
    beta += share * law(h, 1).beta;
  }
  return {.seconds = seconds / sum, .alpha = alpha / seconds, .beta = beta / seconds};
}

StageCost ContentionFit::sample(double u) const {
  double left = u * std::accumulate(weights_.begin(), weights_.end(), 0.0);
  std::size_t h = 0;
  while (h + 1 < kHypotheses && left >= weights_[h]) left -= weights_[h++];
  return law(h, std::exp(log_seconds_[h]));
}

double ContentionFit::spread(double actors) const {
  double sum = 0;
  double mean = 0;
  double square = 0;
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    const double at = log_seconds_[h] + log_slow(h, actors);
    sum += weights_[h];
    mean += weights_[h] * at;
    square += weights_[h] * at * at;
  }
  mean /= sum;
  return std::sqrt(std::max(0.0, square / sum - mean * mean) + (seen() ? 1 / precision_ : 1.0));
}

std::vector<double> ContentionFit::save() const {
  std::vector<double> saved = weights_;
  saved.insert(saved.end(), log_seconds_.begin(), log_seconds_.end());
  return saved;
}

bool ContentionFit::restore(const std::vector<double>& saved) {
  const auto usable = [](double value) { return std::isfinite(value) && std::abs(value) < 100; };
  if (saved.size() != 2 * kHypotheses || !std::all_of(saved.begin(), saved.end(), usable)) {
    return false;
  }
  const auto half = saved.begin() + kHypotheses;
  if (std::any_of(saved.begin(), half, [](double weight) { return weight <= 0; })) return false;
  weights_.assign(saved.begin(), half);
  normalise(weights_);
  log_seconds_.assign(half, saved.end());
  precision_ = 1 / kRestored;
  return true;
}

}  // namespace forebay::tuner
