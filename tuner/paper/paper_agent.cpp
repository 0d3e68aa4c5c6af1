#include "tuner/paper/paper_agent.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tuner/agent/agent.h"
#include "tuner/agent/fine_tuning.h"
#include "tuner/model/expected_rate.h"

namespace forebay::tuner {
namespace {

constexpr float kPaperMargin = 0.4F;  // per cent that a step must promise
constexpr double kExploring = 0.03;   // chance of a random single step, when calm and starved
constexpr int kCalm = 2;              // decisions before a lesson that kept what stood
constexpr std::size_t kPaperLessons = 64;
constexpr int kPaperPasses = 4;
constexpr float kPaperRate = 2e-4F;
constexpr float kPaperClip = 5;  // per cent by which one lesson is clipped: an interval is noisy
constexpr std::uint8_t kFewerByOne = 2;  // of kPaperSteps: larger steps cost too much to try
constexpr std::uint8_t kMoreByOne = 3;

static_assert(kPaperSteps == kSteps, "stepped() applies the actions of tuner/agent");

std::string moves(const PipelineDescription& description, const Observation& seen,
                  const Allocation& next) {
  std::string text;
  for (std::size_t i = 0; i < next.actors.size(); ++i) {
    const std::uint32_t before = seen.stages[i].actors;
    if (before == next.actors[i]) continue;
    text += (text.empty() ? "steps: " : ", ") + description.stages[i].name + " " +
            std::to_string(before) + " to " + std::to_string(next.actors[i]);
  }
  return text.empty() ? "stays" : text;
}

}  // namespace

std::vector<std::uint8_t> best_steps(const Network& network, std::span<const PaperFeatures> rows,
                                     float margin) {
  std::vector<std::uint8_t> steps;
  for (const PaperFeatures& row : rows) {
    PaperOutputs advantages{};
    network.forward(row, advantages);
    const auto* const best = std::ranges::max_element(advantages);
    const bool worth = std::isfinite(*best) && *best >= margin;
    steps.push_back(worth ? static_cast<std::uint8_t>(1 + (best - advantages.begin())) : 0);
  }
  return steps;
}

Allocation stepped(const PipelineDescription& description, const Limits& limits,
                   const Allocation& standing, const std::vector<std::uint8_t>& steps) {
  return applied(description, limits, shaped(description, standing), {.steps = steps});
}

void fine_tune(Network& network, std::span<const PaperLesson> lessons) {
  std::vector<OutputTarget> targets;
  for (const PaperLesson& lesson : lessons) {
    targets.push_back({lesson.row, lesson.step - 1U, lesson.advantage});
  }
  fine_tune(network, targets, {.passes = kPaperPasses, .rate = kPaperRate});
}

Result<std::unique_ptr<Policy>> PaperAgent::make(PipelineDescription description,
                                                 std::uint64_t seed) {
  Result<Network> network =
      decode_weights(shipped_paper_weights(), kPaperShape, "intune-paper's weights of this build");
  if (!network) return pass(network);
  return std::make_unique<PaperAgent>(std::move(description), std::move(*network), seed);
}

PaperAgent::PaperAgent(PipelineDescription description, Network network, std::uint64_t seed)
    : description_(std::move(description)),
      network_(std::move(network)),
      random_(seed),
      state_(description_) {}

Proposal PaperAgent::decide(const Observation& observed) {
  const Observation seen = plausible(description_, observed);
  state_.observe(seen);
  learn();
  const std::vector<PaperFeatures> rows = state_.rows();
  std::vector<std::uint8_t> steps = best_steps(network_, rows, kPaperMargin);
  explore(steps, seen);
  Proposal proposal{.allocation = stepped(description_, seen.limits, seen.allocation(), steps)};
  proposal.reason = moves(description_, seen, proposal.allocation);
  const auto moved = steps.size() - static_cast<std::size_t>(std::ranges::count(steps, 0));
  trying_ = moved == 1 && calm_ >= kCalm;
  calm_ = moved == 0 ? calm_ + 1 : 0;
  if (trying_) {
    const auto stage = static_cast<std::size_t>(
        std::ranges::find_if(steps, [](std::uint8_t step) { return step != 0; }) - steps.begin());
    pending_ = {.row = rows[stage], .step = steps[stage]};
    reward_before_ = state_.reward();
  }
  state_.took(steps);
  return proposal;
}

// A step is a lesson if nothing else moved: then the change of the reward is its own.
void PaperAgent::learn() {
  if (!std::exchange(trying_, false) || reward_before_ <= 0) return;
  const auto gain = static_cast<float>(100 * (state_.reward() / reward_before_ - 1));
  pending_.advantage = std::clamp(gain, -kPaperClip, kPaperClip);
  lessons_.push_back(pending_);
  if (lessons_.size() > kPaperLessons) lessons_.pop_front();
  fine_tune(network_, std::vector<PaperLesson>(lessons_.begin(), lessons_.end()));
}

void PaperAgent::explore(std::vector<std::uint8_t>& steps, const Observation& seen) {
  const bool starved = !seen.is_fed();
  if (calm_ < kCalm || !starved || random_.uniform() >= kExploring) return;
  const std::size_t stage = random_.below(steps.size());
  steps[stage] = random_.below(2) == 0 ? kFewerByOne : kMoreByOne;
}

}  // namespace forebay::tuner
