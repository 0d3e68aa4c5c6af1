#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "tuner/decision.h"
#include "tuner/guard.h"
#include "tuner/policy.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

enum class Mode : std::uint8_t { kOff, kAdvise, kOn };

/// "off", "advise"; anything else is on.
Mode mode_named(std::string_view name);

/// Watches a tuned pipeline, asks a policy, obeys the guard.
///
/// Pure control: whoever owns it calls step() ten times a second and decide() once a period, from
/// one thread. A policy that throws or proposes nonsense (wrong sizes, zeros, numbers that are not)
/// is not listened to: `fallback` decides instead, and the decision says so; where that fails too,
/// what stands stays. After three faults in a row the policy is not asked again. What stands when
/// it is made is the first goal.
class Tuner {
 public:
  struct Options {
    TunedPipeline& tuned_pipeline;
    const Clock& clock;  ///< Only to measure what deciding takes.
    std::unique_ptr<Policy> policy;
    std::unique_ptr<Policy> fallback;
    Mode mode = Mode::kOn;
    std::function<void(const Decision&)> on_decision = {};  ///< Not in mode off.
  };

  explicit Tuner(Options options);

  /// Enforces limits and leads towards the goal, in every mode but off.
  void step();
  /// Observes, decides, applies; in `advise` it only says what it would do, and what stands when
  /// that mode begins stays the goal. Off: observes only.
  Decision decide();

  Mode mode() const { return options_.mode; }
  void set_mode(Mode mode);
  const Policy& policy() const { return *options_.policy; }

 private:
  Proposal ask(const Observation& seen, const CurrentState& now, Decision& decision);
  Proposal ask_policy(const Observation& seen, Decision& decision);
  void keep_what_stands();

  Options options_;
  Guard guard_;
  int faults_ = 0;
  std::uint64_t decisions_ = 0;
  double expected_ = 0;
};

}  // namespace forebay::tuner
