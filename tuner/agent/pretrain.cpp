#include "tuner/agent/pretrain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "core/base/parallel.h"
#include "tuner/agent/agent.h"
#include "tuner/agent/experiment.h"

namespace forebay::tuner {
namespace {

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
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[random.below(i)]);
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
