#include "tuner/model/possible_worlds.h"

#include <algorithm>
#include <limits>

namespace forebay::tuner {
namespace {

// The most splits/s under a limit; a limit of 0 allows any number.
double rate_of(double limit) { return limit > 0 ? limit : std::numeric_limits<double>::infinity(); }

}  // namespace

PossibleWorlds::PossibleWorlds(const PipelineEstimate& known)
    : stages_(known.stages().size()),
      given_{known.cpus(), known.trainer_rate(), known.loss_scale()} {
  for (const StageEstimate& stage : known.stages()) noise_.push_back(stage.noise());
  for (std::size_t w = 0; w < kWorlds; ++w) {
    costs_[w] = known.sample(w);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const StageCost& cost = costs_[w][i];
      Stage& stage = stages_[i];
      stage.seconds[w] = cost.seconds;
      stage.cpu_seconds[w] = cost.seconds * cost.cpu;
      stage.alpha[w] = cost.alpha;
      stage.beta[w] = cost.beta;
      stage.most[w] = rate_of(cost.max_rate);
    }
  }
}

// All worlds side by side, since each number waits only for others of its own world.
PossibleWorlds::Rates PossibleWorlds::steady(std::span<const std::uint32_t> actors) const {
  Rates rates;
  rates.fill(rate_of(given_.trainer_rate));
  Rates cpu_seconds{};
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const double n = actors[i];
    for (std::size_t w = 0; w < kWorlds; ++w) {
      const double slow = 1 + stage.alpha[w] * (n - 1) + stage.beta[w] * n * (n - 1);
      cpu_seconds[w] += stage.cpu_seconds[w] * slow;
      rates[w] = std::min(rates[w], std::min(stage.most[w], n / (stage.seconds[w] * slow)));
    }
  }
  for (std::size_t w = 0; w < kWorlds; ++w) {
    rates[w] = std::min(rates[w], given_.cpus / cpu_seconds[w]);
  }
  return rates;
}

PossibleWorlds::Rates PossibleWorlds::expected(std::span<const std::uint32_t> actors,
                                               const Rates& steady) const {
  Rates rates{};
  for (std::size_t w = 0; w < kWorlds; ++w) {
    rates[w] = less_losses(steady[w], costs_[w], noise_, actors, given_);
  }
  return rates;
}

}  // namespace forebay::tuner
