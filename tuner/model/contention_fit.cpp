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
constexpr double kStrayMemory = 0.85;  // weight of older residuals, per interval
constexpr int kSteadyIntervals = 8;
constexpr int kExcused = 1;                 // surprises that may be the rest of a change
constexpr double kPlausible = 1e-4;         // weight from which a hypothesis may explain a change
constexpr double kSameActors = 0.1;         // relative; counts as the same number of actors
constexpr double kOutlastDeviation = 0.25;  // of the logarithm of the time of a first split
constexpr double kGrown = 0.02;             // probability that the work has grown meanwhile
constexpr double kFloor = 1e-7;             // every hypothesis keeps at least this weight
constexpr double kUnlikely = 1e-4;          // likelihood of an interval, at least
constexpr double kRestored = 0.2 * 0.2;     // variance of a scale restored from another run

// By hypothesis: its alpha and beta, and how rare stages of this kind are.
struct Grid {
  std::array<double, kHypotheses> alpha = {};
  std::array<double, kHypotheses> beta = {};
  std::array<double, kHypotheses> rarity = {};
};

constexpr Grid made_grid() {
  Grid grid;
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    grid.alpha[h] = kAlphas[h / kBetas.size()];
    grid.beta[h] = kBetas[h % kBetas.size()];
    grid.rarity[h] = grid.alpha[h] > kUsualAlpha || grid.beta[h] > kUsualBeta ? kRare : 1;
  }
  return grid;
}

constexpr Grid kGrid = made_grid();

StageCost law(std::size_t hypothesis, double seconds) {
  return {.seconds = seconds, .alpha = kGrid.alpha[hypothesis], .beta = kGrid.beta[hypothesis]};
}

double log_slow(std::size_t hypothesis, double actors) {
  return std::log(law(hypothesis, 1).slow(actors));
}

// Half of the stages do not contend; of the rest, mild contention is likelier than strong.
std::vector<double> prior() {
  std::vector<double> weights(kHypotheses);
  double contended = 0;
  for (std::size_t h = 1; h < kHypotheses; ++h) {
    weights[h] = 1 / ((1 + law(h, 1).alpha / 0.03) * (1 + law(h, 1).beta / 1e-3));
    weights[h] *= kGrid.rarity[h];
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

double variance_of(double mean, double mean_square) {
  return std::max(0.0, mean_square - mean * mean);
}

// The least of the squares, in lanes that do not wait for one another.
double least_square(std::span<const double, kHypotheses> values) {
  constexpr std::size_t kLanes = 4;
  static_assert(kHypotheses % kLanes == 0);
  std::array<double, kLanes> least{};
  least.fill(std::numeric_limits<double>::infinity());
  for (std::size_t h = 0; h < kHypotheses; h += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      least[lane] = std::min(least[lane], values[h + lane] * values[h + lane]);
    }
  }
  return *std::ranges::min_element(least);
}

}  // namespace

ContentionFit::ContentionFit()
    : weights_(prior()),
      log_seconds_(kHypotheses, 0),
      seconds_(kHypotheses, 1),
      log_slows_(kHypotheses, 0) {
  summarise();
}

// Whether the last residuals together show what each of them alone could hide: intervals with few
// and long splits vary so much that a change of the work has to be seen over several.
bool ContentionFit::strays(double residual, double variance) {
  strayed_ = kStrayMemory * strayed_ + residual;
  strayed_variance_ = kStrayMemory * kStrayMemory * strayed_variance_ + variance;
  strayed_weight_ = kStrayMemory * strayed_weight_ + 1;
  return std::abs(strayed_) > kChangeLeast * strayed_weight_ &&
         std::abs(strayed_) > kChangeSigmas * std::sqrt(strayed_variance_);
}

double ContentionFit::likelihood(std::span<const double> residuals, double variance) const {
  double sum = 0;
  double likely = 0;
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    sum += weights_[h];
    likely += weights_[h] * std::exp(-0.5 * residuals[h] * residuals[h] / variance);
  }
  return std::log(likely / sum + kUnlikely);
}

// A cluster has hundreds of stages, most of them with the same actors as before.
void ContentionFit::slow_with(double actors) {
  if (actors == slows_of_) return;
  slows_of_ = actors;
  for (std::size_t h = 0; h < kHypotheses; ++h) log_slows_[h] = log_slow(h, actors);
}

bool ContentionFit::observe(double actors, double seconds, double variance, double news) {
  const double noise = variance + kModelVariance;
  std::array<double, kHypotheses> residuals{};
  double nearest = std::numeric_limits<double>::infinity();
  const double log_time = std::log(seconds);
  slow_with(actors);
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    residuals[h] = log_time - log_slows_[h] - log_seconds_[h];
    const bool plausible = weights_[h] > kPlausible * kGrid.rarity[h];
    if (plausible && std::abs(residuals[h]) < std::abs(nearest)) nearest = residuals[h];
  }

  const bool first = !seen();
  const double before = (first ? 0 : 1 / precision_) + kDrift;
  const double expected = before + noise;
  const bool sudden =
      std::abs(nearest) > kChangeLeast && std::abs(nearest) > kChangeSigmas * std::sqrt(expected);
  const bool surprise = strays(nearest, expected) || sudden;
  if (!first && weighs_) evidence_ += news * likelihood(residuals, expected);
  // Soon after a change, the number of actors follows it, and the next surprise is its rest.
  const bool moved = std::abs(actors - actors_) > kSameActors * actors_;
  if (surprise && moved && (steady_ >= kSteadyIntervals || ++excused_ > kExcused)) {
    doubt(weights_);
    excused_ = 0;
  }
  steady_ = surprise ? 0 : steady_ + 1;
  actors_ = actors;
  if (first || unsettled_ || surprise) {
    for (std::size_t h = 0; h < kHypotheses; ++h) log_seconds_[h] += residuals[h];
    precision_ = 1 / noise;
    strayed_ = strayed_variance_ = strayed_weight_ = 0;
    summarise();
    const bool changed = !first;
    unsettled_ = changed && !unsettled_;
    return changed;
  }

  const double least = least_square(residuals);
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    log_seconds_[h] += residuals[h] * before / expected;
    residuals[h] = -0.5 * news * (residuals[h] * residuals[h] - least) / expected;
  }
  for (std::size_t h = 0; h < kHypotheses; ++h) weights_[h] *= std::exp(residuals[h]);
  normalise(weights_);
  precision_ = 1 / before + 1 / noise;
  summarise();
  return false;
}

void ContentionFit::renew(double actors, double seconds, double variance) {
  slow_with(actors);
  const double log_time = std::log(seconds);
  for (std::size_t h = 0; h < kHypotheses; ++h) log_seconds_[h] = log_time - log_slows_[h];
  actors_ = actors;
  steady_ = 0;
  precision_ = 1 / (variance + kModelVariance);
  strayed_ = strayed_variance_ = strayed_weight_ = 0;
  summarise();
}

void ContentionFit::outlast(double actors, double seconds) {
  slow_with(actors);
  const double waited = std::log(seconds);
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    const double short_by = std::max(0.0, waited - log_seconds_[h] - log_slows_[h]);
    const double sigmas = short_by / kOutlastDeviation;
    // Either the hypothesis is wrong, or the work has grown, which a hypothesis that was never
    // likely is not to explain away.
    const double as_before = (1 - kGrown) * std::exp(-0.5 * sigmas * sigmas);
    weights_[h] *= as_before + kGrown;
    log_seconds_[h] += short_by * kGrown / (as_before + kGrown);
    if (short_by > 0) steady_ = 0;
  }
  normalise(weights_);
  summarise();
}

void ContentionFit::question(double actors) {
  slow_with(actors);
  double time = 0;
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    time += weights_[h] * (log_seconds_[h] + log_slows_[h]);
  }
  for (std::size_t h = 0; h < kHypotheses; ++h) log_seconds_[h] = time / sum_ - log_slows_[h];
  doubt(weights_);
  weigh();
  summarise();
}

// Called after every change of the weights or the scales: what it computes is asked for more often.
// The sums have a loop without calls, so that they stay in registers.
void ContentionFit::summarise() {
  double sum = 0;
  double seconds = 0;
  double alpha = 0;
  double beta = 0;
  double mean = 0;
  double square = 0;
  for (std::size_t h = 0; h < kHypotheses; ++h) seconds_[h] = std::exp(log_seconds_[h]);
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    const double share = weights_[h] * seconds_[h];
    sum += weights_[h];
    seconds += share;
    alpha += share * kGrid.alpha[h];
    beta += share * kGrid.beta[h];
    const double at = log_seconds_[h] + log_slows_[h];
    mean += weights_[h] * at;
    square += weights_[h] * at * at;
  }
  sum_ = sum;
  mean_ = {.seconds = seconds / sum, .alpha = alpha / seconds, .beta = beta / seconds};
  log_variance_ = variance_of(mean / sum, square / sum);
}

StageCost ContentionFit::sample(double u) const {
  double left = u * sum_;
  std::size_t h = 0;
  while (h + 1 < kHypotheses && left >= weights_[h]) left -= weights_[h++];
  return law(h, seconds_[h]);
}

// The more a hypothesis contends, the longer its services: of the hypotheses with one alpha, those
// from some beta on exceed `times`, and of those with a larger alpha the same and perhaps more.
double ContentionFit::risk(double actors, double times) const {
  double longer = 0;
  std::size_t first = kBetas.size();
  for (std::size_t row = 0; row < kHypotheses; row += kBetas.size()) {
    while (first > 0 && law(row + first - 1, 1).slow(actors) > times) --first;
    for (std::size_t b = first; b < kBetas.size(); ++b) longer += weights_[row + b];
  }
  return longer / sum_;
}

double ContentionFit::spread(double actors) const {
  const double variance = actors == slows_of_ ? log_variance_ : log_variance(actors);
  return std::sqrt(variance + (seen() ? 1 / precision_ : 1.0));
}

// Over the hypotheses, of the logarithm of the service time.
double ContentionFit::log_variance(double actors) const {
  double mean = 0;
  double square = 0;
  for (std::size_t h = 0; h < kHypotheses; ++h) {
    const double at = log_seconds_[h] + log_slow(h, actors);
    mean += weights_[h] * at;
    square += weights_[h] * at * at;
  }
  return variance_of(mean / sum_, square / sum_);
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
  summarise();
  return true;
}

}  // namespace forebay::tuner
