#include "tuner/paper/paper_pretrain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>

#include "core/base/shuffle.h"
#include "core/base/thread/parallel.h"
#include "tuner/guard.h"
#include "tuner/model/expected_rate.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/random_pipeline.h"
#include "tuner/sim/simulator.h"

namespace forebay::tuner {
namespace {

constexpr double kPeriod = 2;
constexpr double kGuardStep = 0.1;
constexpr int kEpisode = 32;  // decisions
constexpr int kEpisodeWithEvents = 90;
constexpr double kWithEvents = 0.25;
constexpr double kStartsElsewhere = 0.5;  // chance of a start near the best allocation
constexpr double kStrays = 0.3;           // chance that a decision is not the network's
constexpr double kStraysPerStage = 0.4;
constexpr float kActingMargin = 0.4F;
constexpr float kMostAdvantage = 20;               // per cent: larger values need not be exact
constexpr double kLossScale = 3;                   // usual, of tuner/model's losses to noise
constexpr std::uint64_t kPaperSeeds = 3ULL << 40;  // never the seeds that users compare with

class Episode {
 public:
  Episode(std::uint64_t seed, const Network& network)
      : random_(mix64(seed, 0x7061706572ULL)),
        model_(random_pipeline(seed, {.events = random_.uniform() < kWithEvents})),
        network_(network),
        simulator_(model_, seed),
        guard_(simulator_.description()),
        state_(simulator_.description()) {}

  std::vector<PaperSample> run() {
    if (random_.uniform() < kStartsElsewhere) lead(somewhere());
    const int decisions = model_.events.empty() ? kEpisode : kEpisodeWithEvents;
    for (int i = 1; i <= decisions; ++i) {
      advance(kPeriod * i);
      if (simulator_.out_of_memory()) break;
      const Observation seen = plausible(simulator_.description(), simulator_.observe());
      state_.observe(seen);
      std::vector<std::uint8_t> steps = best_steps(network_, state_.rows(), kActingMargin);
      judge(seen, steps);
      stray(steps);
      lead(stepped(simulator_.description(), seen.limits, seen.allocation(), steps));
      state_.took(steps);
    }
    return std::move(samples_);
  }

 private:
  Allocation somewhere() {
    Allocation start = oracle_of(model_at(model_, 0)).allocation;
    for (std::uint32_t& actors : start.actors) {
      const double factor = std::exp(2 * random_.uniform() - 1.3);
      actors = static_cast<std::uint32_t>(std::max(1.0, std::round(actors * factor)));
    }
    start.prefetch = simulator_.description().default_prefetch;
    return start;
  }

  void lead(const Allocation& goal) {
    guard_.admit(goal, simulator_.current());
    simulator_.apply(guard_.step(simulator_.current()));
  }

  void advance(double until) {
    while (simulator_.now() < until - kGuardStep / 2) {
      simulator_.run_until(std::min(until, simulator_.now() + kGuardStep));
      simulator_.apply(guard_.step(simulator_.current()));
    }
    simulator_.run_until(until);
  }

  void stray(std::vector<std::uint8_t>& steps) {
    if (random_.uniform() >= kStrays) return;
    for (std::uint8_t& step : steps) {
      if (random_.uniform() >= kStraysPerStage) continue;
      step = static_cast<std::uint8_t>(random_.below(kPaperSteps.size()));
    }
  }

  void judge(const Observation& seen, const std::vector<std::uint8_t>& acting) {
    const PipelineModel now = model_at(model_, simulator_.now());
    const std::vector<StageCost> costs = costs_of(now);
    std::vector<double> noise;
    for (const StageModel& stage : now.stages) noise.push_back(stage.noise);
    const RateConditions given{
        .cpus = seen.limits.cpus, .trainer_rate = trainer_rate_of(now), .loss_scale = kLossScale};
    const PipelineDescription& description = simulator_.description();
    const auto reward_of = [&](const std::vector<std::uint8_t>& steps) {
      const Allocation next = stepped(description, seen.limits, seen.allocation(), steps);
      return expected_rate(costs, noise, next.actors, given) *
             (1 - price(RewardMode::kPaper, description, seen.limits, next));
    };
    const std::vector<PaperFeatures> rows = state_.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<std::uint8_t> steps = acting;
      steps[i] = 0;
      const double kept = reward_of(steps);
      PaperSample sample{.row = rows[i]};
      for (std::size_t a = 0; a < kPaperOutputs; ++a) {
        steps[i] = static_cast<std::uint8_t>(a + 1);
        const auto gain = static_cast<float>(100 * (reward_of(steps) / kept - 1));
        sample.advantages[a] =
            std::isfinite(gain) ? std::clamp(gain, -kMostAdvantage, kMostAdvantage) : 0;
      }
      samples_.push_back(sample);
    }
  }

  Random random_;
  PipelineModel model_;
  const Network& network_;
  Simulator simulator_;
  Guard guard_;
  PaperState state_;
  std::vector<PaperSample> samples_;
};

constexpr std::size_t kPaperBatch = 128;
constexpr float kFirstPaperRate = 2e-3F;
constexpr float kLastPaperRate = 5e-5F;

// One pass in a new random order; returns the root of the mean squared error before each step.
double pass_over(const std::vector<PaperSample>& samples, Network& network, Adam& adam,
                 Random& random) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), random);
  std::vector<float> gradient(network.weights().size());
  Network::Trace trace;
  double squares = 0;
  for (std::size_t at = 0; at < order.size(); at += kPaperBatch) {
    const std::size_t end = std::min(at + kPaperBatch, order.size());
    std::ranges::fill(gradient, 0.0F);
    for (std::size_t k = at; k < end; ++k) {
      const PaperSample& sample = samples[order[k]];
      PaperOutputs said{};
      network.forward(sample.row, said, &trace);
      for (std::size_t a = 0; a < kPaperOutputs; ++a) {
        said[a] -= sample.advantages[a];
        squares += static_cast<double>(said[a]) * said[a];
        said[a] /= static_cast<float>(end - at);
      }
      network.backward(trace, said, gradient);
    }
    adam.step(network.weights(), gradient);
  }
  const std::size_t count = std::max<std::size_t>(1, samples.size() * kPaperOutputs);
  return std::sqrt(squares / static_cast<double>(count));
}

std::string paper_line(std::uint32_t round, const PaperPretrainOptions& options,
                       std::size_t samples, double error) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "round %u of %u: %zu samples, error %.3f %%", round + 1,
                options.rounds, samples, error);
  return text.data();
}

}  // namespace

std::vector<PaperSample> paper_episode(std::uint64_t seed, const Network& network) {
  return Episode(seed, network).run();
}

Network paper_pretrain(const PaperPretrainOptions& options) {
  Random random(options.seed);
  Network network(kPaperShape, random);
  Network acting(kPaperShape);  // at first only strays move anything
  std::vector<PaperSample> samples;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    std::vector<std::vector<PaperSample>> found(options.episodes);
    const std::uint64_t first = kPaperSeeds + options.seed * 1'000'000 + round * 10'000ULL;
    for_each_in_parallel(found.size(), options.threads, [&](std::size_t i) {
      if (!options.stopped || !options.stopped()) found[i] = paper_episode(first + i, acting);
    });
    for (const auto& some : found) samples.insert(samples.end(), some.begin(), some.end());

    Adam adam(network.weights().size(), kFirstPaperRate);
    double error = 0;
    for (std::uint32_t pass = 0; pass < options.passes; ++pass) {
      if (options.stopped && options.stopped()) return network;
      const float done = static_cast<float>(pass) / static_cast<float>(options.passes);
      adam.set_rate(kFirstPaperRate * std::pow(kLastPaperRate / kFirstPaperRate, done));
      error = pass_over(samples, network, adam, random);
    }
    acting = network;
    if (options.progress) options.progress(paper_line(round, options, samples.size(), error));
  }
  return network;
}

}  // namespace forebay::tuner
