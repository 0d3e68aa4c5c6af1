#pragma once

#include <functional>
#include <string>
#include <utility>

#include "core/runtime/ask.h"
#include "engine/cluster/tuner_messages.h"
#include "tuner/policy.h"

namespace forebay {

/// A worker's policy: forwards each decision to the policy that the trainer keeps for this node.
///
/// If the trainer does not answer, the current allocation stays. Belongs to the tuner's thread,
/// which blocks until the answer arrives.
class CentralPolicy final : public tuner::Policy {
 public:
  struct Options {
    std::string node;
    tuner::PipelineDescription description;
    tuner::Limits limits;
    /// Returns the trainer's tuners as they can be reached now.
    std::function<TunersRef()> tuners;
  };

  explicit CentralPolicy(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "central"; }
  tuner::Proposal decide(const tuner::Observation& seen) override;

 private:
  const Options options_;
};

}  // namespace forebay
