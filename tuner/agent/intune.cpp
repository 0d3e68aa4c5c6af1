#include "tuner/agent/intune.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/enum_names.h"
#include "core/base/text/json_text.h"
#include "tuner/agent/fine_tuning.h"
#include "tuner/agent/network.h"
#include "tuner/allocation.h"
#include "tuner/model/expected_rate.h"

namespace forebay::tuner {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kLongest = 4 << 20;

json names_of(const PipelineDescription& description) {
  json names = json::array();
  for (const StageDescription& stage : description.stages) names.push_back(stage.name);
  return names;
}

constexpr std::size_t kOneFewer = 2;  // of kSteps: larger ones would cost too much to try
constexpr std::size_t kOneMore = 3;
constexpr int kSettled = 4;           // intervals before the first, and between two
constexpr double kShort = 0.03;       // of the rate that the costs allow, that must be missing
constexpr double kStepCost = 0.03;    // of that rate, that a step may take
constexpr double kUsualMemory = 0.7;  // weight of the mean reward so far, per interval
constexpr std::size_t kLessons = 64;  // kept lessons
constexpr int kPasses = 4;
constexpr float kRate = 2e-4F;
constexpr float kMost = 5;  // per cent by which one lesson is clipped: an interval is noisy

double reward_of(const Observation& seen, const Agent& agent) {
  return seen.splits_per_second() *
         (1 - price(agent.reward(), agent.description(), seen.limits, seen.allocation()));
}

// Whether the trainer would use more splits than it gets, and the machine could do more than it
// does.
bool something_to_gain(const Observation& seen, const Agent& agent) {
  return !seen.is_fed() && agent.known().shortfall() > kShort;
}

// Whether the costs say that a step does not take more than a try may cost.
bool bearable(const Agent& agent, const Actions& actions) {
  const auto rate = [&](const Actions& taken) {
    return agent.known().allowed_rate(agent.allocation(taken).actors);
  };
  return rate(actions) >= (1 - kStepCost) * rate(agent.actions());
}

Result<Network> network_of(const IntuneOptions& options) {
  if (options.ablation == Ablation::kPretraining) {
    Random random(options.seed);
    return Network(kNetworkShape, random);
  }
  if (!options.weights.empty()) return read_weights(options.weights, kNetworkShape);
  return decode_weights(shipped_weights(), kNetworkShape, "the weights of this build");
}

// The name of the stage that limits the pipeline.
const std::string& slowest(const Agent& agent) {
  const auto costs = agent.known().mean();
  const auto& actors = agent.base().allocation.actors;
  std::size_t found = 0;
  for (std::size_t i = 1; i < costs.size(); ++i) {
    if (costs[i].rate(actors[i]) < costs[found].rate(actors[found])) found = i;
  }
  return agent.description().stages[found].name;
}

// "udf 4 to 12, load 3 to 2"
std::string moves(const PipelineDescription& description, const Observation& seen,
                  const Allocation& next) {
  std::string text;
  for (std::size_t i = 0; i < next.actors.size(); ++i) {
    const std::uint32_t before = seen.stages[i].actors;
    if (before == next.actors[i]) continue;
    if (!text.empty()) text += ", ";
    text += description.stages[i].name + " " + std::to_string(before) + " to " +
            std::to_string(next.actors[i]);
  }
  return text;
}

constexpr EnumName<Ablation> kNames[] = {{"intune", Ablation::kNone},
                                         {"intune:no-network", Ablation::kNetwork},
                                         {"intune:no-model", Ablation::kModel},
                                         {"intune:no-pretraining", Ablation::kPretraining},
                                         {"intune:no-online", Ablation::kOnline},
                                         {"intune:no-gate", Ablation::kGate},
                                         {"intune:no-exploration", Ablation::kExploration}};

}  // namespace

std::string encode_learned_state(const LearnedState& learned_state) {
  const json text{{"version", kVersion},
                  {"stages", names_of(learned_state.description)},
                  {"estimates", learned_state.stages},
                  {"last_layer", learned_state.last_layer}};
  return json_text(text);
}

std::optional<LearnedState> decode_learned_state(std::string_view text,
                                                 const PipelineDescription& description) {
  if (text.size() > kLongest) return std::nullopt;
  const json found = parse_json(text);
  if (!found.is_object() || found.value("version", json()) != json(kVersion) ||
      found.value("stages", json()) != names_of(description)) {
    return std::nullopt;
  }
  LearnedState learned_state;
  learned_state.description = description;
  try {
    learned_state.stages = found.at("estimates").get<std::vector<std::vector<double>>>();
    learned_state.last_layer = found.at("last_layer").get<std::vector<float>>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
  for (const float weight : learned_state.last_layer) {
    if (!std::isfinite(weight)) return std::nullopt;
  }
  return learned_state;
}

Actions Online::next(const Observation& seen, const Agent& agent, Network& network) {
  const double reward = reward_of(seen, agent);
  const bool tried = std::exchange(trying_, false);
  outcome_.reset();
  if (agent.known().changed()) tries_left_ = kTries;
  if (agent.moved() || agent.known().changed() || agent.on_trial() ||
      agent.exploration().departing()) {
    settled_ = 0;
    usual_ = 0;
    return agent.actions();
  }
  if (tried) {
    outcome_ = Outcome{tried_stage_, reward / std::max(usual_, 1e-9) - 1};
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
  if (!bearable(agent, actions)) return agent.actions();
  pending_ = {.rows = {agent.rows()[stage]}, .output = static_cast<std::uint8_t>(action - 1)};
  trying_ = true;
  tried_stage_ = stage;
  --tries_left_;
  return actions;
}

void Online::learn(double reward, Network& network) {
  const auto gain = static_cast<float>(100 * (reward / std::max(usual_, 1e-9) - 1));
  pending_.advantage = std::clamp(gain, -kMost, kMost);
  lessons_.push_back(std::move(pending_));
  if (lessons_.size() > kLessons) lessons_.pop_front();
  std::vector<OutputTarget> targets;
  for (const Lesson& lesson : lessons_) {
    targets.push_back({lesson.rows.front(), lesson.output, lesson.advantage});
  }
  fine_tune(network, targets, {.passes = kPasses, .rate = kRate});
}

Result<std::unique_ptr<Policy>> Intune::make(const IntuneOptions& options) {
  Result<Network> network = network_of(options);
  if (!network) return pass(network);
  return std::unique_ptr<Policy>(new Intune(options, std::move(*network)));
}

Intune::Intune(const IntuneOptions& options, Network network)
    : options_(options),
      network_(std::move(network)),
      agent_(options.description, options.reward, options.ablation),
      online_(options.seed) {}

std::string_view Intune::name() const { return name_in(kNames, options_.ablation); }

Proposal Intune::decide(const Observation& observed) {
  const Observation seen = plausible(options_.description, observed);
  agent_.observe(seen, network_);
  agent_.choose();
  // The gate of choose() asks the model, which this ablation is without: whatever promises a gain.
  if (options_.ablation == Ablation::kModel) {
    agent_.take(best_actions(agent_.outputs(), Actions{}, 0));
  }
  const bool learns =
      options_.ablation != Ablation::kOnline && options_.ablation != Ablation::kNetwork;
  if (learns) agent_.take(online_.next(seen, agent_, network_));
  Proposal proposal{.allocation = agent_.allocation(agent_.actions()),
                    .expected_splits_per_second = agent_.base().expected_splits_per_second};
  proposal.reason = reason(seen, proposal.allocation);
  proposal.beliefs = beliefs(seen);
  last_ = proposal.allocation;
  return proposal;
}

std::string Intune::reason(const Observation& seen, const Allocation& next) const {
  const std::string moved = moves(options_.description, seen, next);
  if (!agent_.sane()) return "the network puts out no numbers: the model decides; " + moved;
  if (online_.trying() && !moved.empty()) return "tries " + moved;
  if (agent_.exploration().trying()) {
    const std::string words = agent_.exploration().words();
    return moved.empty() ? words : words + ": " + moved;
  }
  if (const auto& stage = agent_.on_trial()) {
    const std::string words =
        "tests what more or fewer actors do to " + options_.description.stages[*stage].name;
    return moved.empty() ? words : words + ": " + moved;
  }
  if (moved.empty()) return online_.converged() ? "converged" : "stays";
  if (!last_) return "first plan: " + moved;
  if (agent_.known().changed()) return "the work or the machine changed: " + moved;
  return slowest(agent_) + " is slowest: " + moved;
}

Beliefs Intune::beliefs(const Observation& seen) const {
  const PipelineEstimate& known = agent_.known();
  Beliefs beliefs{.trainer_rate = known.trainer_rate(),
                  .cpus = known.cpus(),
                  .missing = known.shortfall(),
                  .outcome = outcome()};
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageEstimate& stage = known.stages()[i];
    const std::uint32_t actors = std::max(1U, seen.stages[i].actors);
    const StageCost cost = stage.mean();
    beliefs.stages.push_back({.seconds = stage.seen() ? cost.seconds : 0,
                              .slow = cost.slow(actors),
                              .cpu = cost.cpu,
                              .max_rate = cost.max_rate,
                              .rate = stage.seen() ? cost.rate(actors) : 0,
                              .noise = stage.noise(),
                              .doubt = stage.spread(actors)});
  }
  return beliefs;
}

// Trials, single steps and exploration exclude one another.
std::string Intune::outcome() const {
  if (const auto& ended = agent_.trial().outcome()) {
    const std::string words = options_.description.stages[ended->stage].name + " from " +
                              std::to_string(ended->before) + " to " +
                              std::to_string(ended->during) + " actors: ";
    return words +
           (ended->refuted ? "what was believed of it was wrong" : "as was believed, which stays");
  }
  if (const auto& ended = online_.outcome()) {
    char gain[48];
    std::snprintf(gain, sizeof gain, "%+.1f %% in one period", 100 * ended->gain);
    return "a single step of " + options_.description.stages[ended->stage].name + ": " + gain;
  }
  return agent_.on_trial() ? std::string() : agent_.exploration().outcome();
}

std::string Intune::learned_state() const {
  return encode_learned_state(
      {.description = options_.description,
       .stages = agent_.known().save(),
       .last_layer = {
           network_.weights().begin() + static_cast<std::ptrdiff_t>(network_.last_layer()),
           network_.weights().end()}});
}

bool Intune::restore(std::string_view text) {
  const auto found = decode_learned_state(text, options_.description);
  auto& weights = network_.weights();
  if (!found || found->last_layer.size() != weights.size() - network_.last_layer()) return false;
  if (!agent_.known().restore(found->stages)) return false;
  std::copy(found->last_layer.begin(), found->last_layer.end(),
            weights.begin() + static_cast<std::ptrdiff_t>(network_.last_layer()));
  return true;
}

}  // namespace forebay::tuner
