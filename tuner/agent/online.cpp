#include "tuner/agent/online.h"

#include <algorithm>
#include <utility>

#include "tuner/reward.h"

namespace forebay::tuner {
namespace {

constexpr std::size_t kOneFewer = 2;  // of kSteps: larger ones would cost too much to try
constexpr std::size_t kOneMore = 3;
constexpr int kSettled = 4;           // intervals before the first, and between two
constexpr double kStarved = 0.02;     // share of waiting above which the trainer would use more
constexpr double kShort = 0.03;       // of the rate that the costs allow, that must be missing
constexpr double kUsualMemory = 0.7;  // weight of the mean reward so far, per interval
constexpr std::size_t kLessons = 64;  // kept lessons
constexpr int kPasses = 4;
constexpr float kRate = 2e-4F;
constexpr float kMost = 5;  // per cent by which one lesson is clipped: an interval is noisy

double reward_of(const Observation& seen, const Agent& agent) {
  Allocation current{.prefetch = seen.prefetch};
  for (const StageObservation& stage : seen.stages) current.actors.push_back(stage.actors);
  return seen.splits_per_second() *
         (1 - price(agent.reward(), agent.description(), seen.limits, current));
}

// Whether the trainer would use more splits than it gets, and the machine could do more than it
// does.
bool something_to_gain(const Observation& seen, const Agent& agent) {
  return seen.trainer_wait_seconds > kStarved * seen.seconds && agent.known().shortfall() > kShort;
}

}  // namespace

Actions Online::next(const Observation& seen, const Agent& agent, Network& network) {
  const double reward = reward_of(seen, agent);
  const bool tried = std::exchange(trying_, false);
  if (agent.known().changed()) tries_left_ = kTries;
  if (agent.moved() || agent.known().changed()) {
    settled_ = 0;
    usual_ = 0;
    return agent.actions();
  }
  if (tried) {
    learn(reward, network);
    settled_ = 0;
    return agent.actions();
  }
  settle(reward);
  const bool ready = settled_ >= kSettled && tries_left_ > 0;
  if (!ready || !something_to_gain(seen, agent)) return agent.actions();
  return attempt(agent);
}

void Online::settle(double reward) {
  usual_ =
      settled_ == 0 && usual_ == 0 ? reward : kUsualMemory * usual_ + (1 - kUsualMemory) * reward;
  ++settled_;
}

Actions Online::attempt(const Agent& agent) {
  Actions actions = agent.actions();
  const std::size_t stage = random_.below(actions.steps.size());
  const std::size_t action = random_.below(2) == 0 ? kOneFewer : kOneMore;
  if (actions.steps[stage] == action) return actions;
  actions.steps[stage] = static_cast<std::uint8_t>(action);
  pending_ = {.rows = {agent.rows()[stage]}, .output = static_cast<std::uint8_t>(action - 1)};
  trying_ = true;
  --tries_left_;
  return actions;
}

void Online::learn(double reward, Network& network) {
  const auto gain = static_cast<float>(100 * (reward / std::max(usual_, 1e-9) - 1));
  pending_.advantage = std::clamp(gain, -kMost, kMost);
  lessons_.push_back(std::move(pending_));
  if (lessons_.size() > kLessons) lessons_.pop_front();
  std::vector<float> gradient(network.weights().size());
  Network::Trace trace;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const Lesson& lesson : lessons_) {
      Outputs said{};
      network.forward(lesson.rows.front(), said, &trace);
      Outputs slope{};
      slope[lesson.output] = said[lesson.output] - lesson.advantage;
      std::fill(gradient.begin(), gradient.end(), 0.0F);
      network.backward(trace, slope, gradient);
      for (std::size_t i = network.last_layer(); i < gradient.size(); ++i) {
        network.weights()[i] -= kRate * gradient[i];
      }
    }
  }
}

}  // namespace forebay::tuner
