#include "tuner/agent/intune.h"

#include <algorithm>

#include "core/base/enum_names.h"
#include "tuner/agent/learned_state.h"
#include "tuner/agent/weights.h"
#include "tuner/model/expected_rate.h"

namespace forebay::tuner {
namespace {

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
                                         {"intune:no-online", Ablation::kOnline}};

}  // namespace

Result<std::unique_ptr<Intune>> Intune::make(const IntuneOptions& options) {
  Result<Network> network = network_of(options);
  if (!network) return pass(network);
  return std::unique_ptr<Intune>(new Intune(options, std::move(*network)));
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
  const bool learns =
      options_.ablation != Ablation::kOnline && options_.ablation != Ablation::kNetwork;
  if (learns) agent_.take(online_.next(seen, agent_, network_));
  Proposal proposal{.allocation = agent_.allocation(agent_.actions()),
                    .expected_splits_per_second = agent_.base().expected_splits_per_second};
  proposal.reason = reason(seen, proposal.allocation);
  last_ = proposal.allocation;
  return proposal;
}

std::string Intune::reason(const Observation& seen, const Allocation& next) const {
  const std::string moved = moves(options_.description, seen, next);
  if (!agent_.sane()) return "the network puts out no numbers: the model decides; " + moved;
  if (online_.trying()) return "tries " + moved;
  if (moved.empty()) return online_.converged() ? "converged" : "stays";
  if (!last_) return "first plan: " + moved;
  if (agent_.known().changed()) return "the work or the machine changed: " + moved;
  return slowest(agent_) + " is slowest: " + moved;
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
