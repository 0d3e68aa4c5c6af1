#pragma once

#include <string>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/policy.h"

namespace forebay {

/// Says what a tuner believed at a decision, one line for the trainer, each resource of its node
/// and each stage; nothing if its policy believes nothing.
std::vector<std::string> belief_words(const tuner::Decision& decision,
                                      const tuner::PipelineDescription& description);

/// Says which tries a tuner began, and what came of each, a line each, in the order of decisions.
std::vector<std::string> try_words(const std::vector<tuner::Decision>& decisions);

}  // namespace forebay
