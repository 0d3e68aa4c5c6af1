#include "tuner/agent/pretrain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>

#include "core/base/shuffle.h"
#include "core/base/thread/parallel.h"
#include "tuner/agent/agent.h"
#include "tuner/guard.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/random_pipeline.h"
#include "tuner/sim/simulator.h"

namespace forebay::tuner {
namespace {

constexpr double kPeriod = 2;
constexpr double kStep = 0.1;
constexpr double kHeld = 4 * kPeriod;  // how long an action is observed
constexpr int kTries = 3;              // alternatives per decision
constexpr int kDecisions = 24;
constexpr int kDecisionsWithEvents = 90;
constexpr double kStray = 0.15;  // chance that a decision is not the best known one
constexpr float kClip = 8;       // per cent: large losses need no exact value

class Experiment {
 public:
  Experiment(std::uint64_t seed, const Network& network)
      : random_(mix64(seed, 0x6c6573736f6eULL)),
        model_(random_pipeline(seed, {.events = random_.below(3) == 0})),
        network_(network),
        simulator_(model_, seed),
        guard_(simulator_.description()),
        agent_(simulator_.description(), RewardMode::kUsable, Ablation::kExploration) {}

  std::vector<Lesson> run() {
    const int decisions = model_.events.empty() ? kDecisions : kDecisionsWithEvents;
    for (int i = 1; i <= decisions; ++i) {
      advance(simulator_, guard_, kPeriod * i);
      if (simulator_.out_of_memory()) break;
      agent_.observe(simulator_.observe(), network_);
      agent_.choose();
      if (random_.uniform() < chance_of_trying(i)) try_some();
      const Actions actions = strayed(agent_.actions());
      agent_.take(actions);
      lead(simulator_, guard_, agent_.allocation(actions));
    }
    return std::move(lessons_);
  }

 private:
  // All early decisions, and a share of the later ones, which resemble one another.
  static double chance_of_trying(int decision) { return decision <= 6 ? 1.0 : 0.3; }

  static void lead(Simulator& simulator, Guard& guard, const Allocation& goal) {
    guard.admit(goal, simulator.current());
    simulator.apply(guard.step(simulator.current()));
  }

  static void advance(Simulator& simulator, const Guard& guard, double until) {
    while (simulator.now() < until - kStep / 2) {
      simulator.run_until(std::min(until, simulator.now() + kStep));
      simulator.apply(guard.step(simulator.current()));
    }
    simulator.run_until(until);
  }

  Actions strayed(Actions actions) {
    if (random_.uniform() >= kStray) return actions;
    const std::size_t stage = random_.below(actions.steps.size());
    actions.steps[stage] = static_cast<std::uint8_t>(random_.below(kSteps.size()));
    return actions;
  }

  // The reward, in per cent of the oracle's rate, for keeping an allocation for kHeld seconds.
  double reward_of(const Allocation& allocation) const {
    Simulator copy(simulator_);
    Guard guard(guard_);
    const double from = copy.now();
    const auto trained = copy.totals().trained;
    lead(copy, guard, allocation);
    advance(copy, guard, from + kHeld);
    const double rate = static_cast<double>(copy.totals().trained - trained) / kHeld;
    const PipelineModel now = model_at(model_, from);
    const double paid =
        price(RewardMode::kUsable, copy.description(), copy.current().limits, allocation);
    return 100 * rate / oracle_of(now).splits_per_second * (1 - paid);
  }

  void try_some() {
    for (int i = 0; i < kTries; ++i) try_branch(random_.below(agent_.actions().steps.size() + 1));
  }

  // A branch is a stage's step or, after the last stage, prefetch.
  void try_branch(std::size_t branch) {
    Actions tried = agent_.actions();
    Actions left = tried;
    const bool step = branch < tried.steps.size();
    const std::size_t actions = step ? kStepOutputs : kPrefetchFactors.size() - 1;
    const std::size_t action = 1 + random_.below(actions);
    (step ? tried.steps[branch] : tried.prefetch) = static_cast<std::uint8_t>(action);
    (step ? left.steps[branch] : left.prefetch) = 0;
    const auto rows = step ? std::vector<Features>{agent_.rows()[branch]} : agent_.rows();
    learn(rows, action - 1 + (step ? 0 : kStepOutputs), tried, left);
  }

  void learn(const std::vector<Features>& rows, std::size_t output, const Actions& tried,
             const Actions& left) {
    const double gain = reward_of(agent_.allocation(tried)) - reward_of(agent_.allocation(left));
    lessons_.push_back({.rows = rows,
                        .output = static_cast<std::uint8_t>(output),
                        .advantage = std::clamp(static_cast<float>(gain), -kClip, kClip)});
  }

  Random random_;
  PipelineModel model_;
  const Network& network_;
  Simulator simulator_;
  Guard guard_;
  Agent agent_;
  std::vector<Lesson> lessons_;
};

constexpr std::size_t kMiniBatch = 128;
constexpr float kFirstRate = 1e-3F;
constexpr float kLastRate = 5e-5F;
constexpr float kDecay = 1e-5F;                       // of the weights, per mini-batch
constexpr std::uint64_t kTrainingSeeds = 1ULL << 40;  // never the seeds that users compare with

class Lessons {
 public:
  void add(std::vector<Lesson>&& more) {
    std::move(more.begin(), more.end(), std::back_inserter(lessons_));
  }
  std::size_t size() const { return lessons_.size(); }

  // One pass in a new random order; returns the root of the mean squared error before each step.
  double pass(Network& network, Adam& adam, Random& random) {
    order_.resize(lessons_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    shuffle(std::span(order_), random);
    double squares = 0;
    for (std::size_t at = 0; at < order_.size(); at += kMiniBatch) {
      const std::size_t count = std::min(kMiniBatch, order_.size() - at);
      squares += step(network, adam, std::span(order_).subspan(at, count));
    }
    return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, order_.size())));
  }

 private:
  double step(Network& network, Adam& adam, std::span<const std::size_t> batch) {
    gradient_.assign(network.weights().size(), 0.0F);
    double squares = 0;
    for (const std::size_t number : batch) {
      const Lesson& lesson = lessons_[number];
      const auto rows = static_cast<float>(lesson.rows.size());
      traces_.resize(std::max(traces_.size(), lesson.rows.size()));
      float said = 0;
      for (std::size_t i = 0; i < lesson.rows.size(); ++i) {
        Outputs outputs{};
        network.forward(lesson.rows[i], outputs, &traces_[i]);
        said += outputs[lesson.output] / rows;
      }
      const float error = said - lesson.advantage;
      squares += static_cast<double>(error) * error;
      Outputs slope{};
      slope[lesson.output] = error / rows / static_cast<float>(batch.size());
      for (std::size_t i = 0; i < lesson.rows.size(); ++i) {
        network.backward(traces_[i], slope, gradient_);
      }
    }
    for (std::size_t i = 0; i < gradient_.size(); ++i)
      gradient_[i] += kDecay * network.weights()[i];
    adam.step(network.weights(), gradient_);
    return squares;
  }

  std::vector<Lesson> lessons_;
  std::vector<std::size_t> order_;
  std::vector<Network::Trace> traces_;
  std::vector<float> gradient_;
};

std::string line(std::uint32_t round, const PretrainOptions& options, std::size_t lessons,
                 double error) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "round %u of %u: %zu lessons, error %.3f %%", round + 1,
                options.rounds, lessons, error);
  return text.data();
}

}  // namespace

std::vector<Lesson> experiment(std::uint64_t seed, const Network& network) {
  return Experiment(seed, network).run();
}

Network pretrain(const PretrainOptions& options) {
  Random random(options.seed);
  Network network(kNetworkShape, random);
  Network acting(kNetworkShape);  // at first only the model selects actions
  Lessons lessons;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    std::vector<std::vector<Lesson>> found(options.experiments);
    const std::uint64_t first = kTrainingSeeds + options.seed * 1'000'000 + round * 10'000;
    for_each_in_parallel(found.size(), options.threads, [&](std::size_t i) {
      if (!options.stopped || !options.stopped()) found[i] = experiment(first + i, acting);
    });
    for (auto& some : found) lessons.add(std::move(some));

    Adam adam(network.weights().size(), kFirstRate);
    double error = 0;
    for (std::uint32_t pass = 0; pass < options.passes; ++pass) {
      if (options.stopped && options.stopped()) return network;
      const float done = static_cast<float>(pass) / static_cast<float>(options.passes);
      adam.set_rate(kFirstRate * std::pow(kLastRate / kFirstRate, done));
      error = lessons.pass(network, adam, random);
    }
    acting = network;
    if (options.progress) options.progress(line(round, options, lessons.size(), error));
  }
  return network;
}

}  // namespace forebay::tuner
