#pragma once

#include <functional>
#include <string>
#include <utility>

#include "core/runtime/ask.h"
#include "engine/cluster/tuner_messages.h"
#include "tuner/policy.h"

namespace forebay {

/// A worker's policy: asks the one that the trainer keeps for this node.
///
/// While the trainer does not answer what stands stays. Belongs to the tuner's thread, which waits
/// for the answer.
class CentralPolicy final : public tuner::Policy {
 public:
  struct Options {
    std::string node;
    tuner::PipelineDescription description;
    tuner::Limits limits;
    std::function<TunersRef()> tuners;  ///< Where to ask now.
  };

  explicit CentralPolicy(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "central"; }
  tuner::Proposal decide(const tuner::Observation& seen) override;

 private:
  const Options options_;
};

}  // namespace forebay
