#include "engine/cluster/central_policy.h"

#include <chrono>

namespace forebay {

tuner::Proposal CentralPolicy::decide(const tuner::Observation& seen) {
  constexpr std::chrono::seconds kPatience(1);
  const TunersRef tuners = options_.tuners();
  if (tuners.receiver() != nullptr) {
    auto answer = ask(tuners,
                      AskDecision{.node = options_.node,
                                  .description = options_.description,
                                  .limits = options_.limits,
                                  .seen = seen},
                      kPatience)
                      .wait();
    if (answer) return std::move(*answer);
  }
  tuner::Proposal same;
  same.allocation.prefetch = seen.prefetch;
  for (const tuner::StageObservation& stage : seen.stages) {
    same.allocation.actors.push_back(stage.actors);
  }
  same.reason = "the trainer does not answer";
  return same;
}

}  // namespace forebay
