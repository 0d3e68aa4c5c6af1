#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/enum_names.h"
#include "tuner/guard.h"
#include "tuner/policy.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

enum class Mode : std::uint8_t { kOff, kAdvise, kOn };

inline constexpr EnumName<Mode> kModeNames[] = {
    {"off", Mode::kOff}, {"advise", Mode::kAdvise}, {"on", Mode::kOn}};

/// Parses a mode: "off" or "advise"; any other name is on.
Mode mode_named(std::string_view name);

/// Asks a policy. `fault` receives what it threw or what is invalid in its proposal (wrong sizes,
/// zeros for stages that cannot join, numbers that are not finite); empty: the proposal can be
/// used.
Proposal ask_safely(Policy& policy, const PipelineDescription& description, const Observation& seen,
                    std::string& fault);

/// Observes a tuned pipeline, asks a policy and applies the guard's steps.
///
/// Pure control: its owner calls step() ten times a second and decide() once a period, from one
/// thread. A policy that throws or makes an invalid proposal (wrong sizes, zeros, numbers that are
/// not finite) is overruled: `fallback` decides instead, and the decision records that; if the
/// fallback fails too, the current allocation stays. After three faults in a row the policy is not
/// asked again. The allocation at construction is the first goal.
class Tuner {
 public:
  struct Options {
    TunedPipeline& tuned_pipeline;
    const Clock& clock;  ///< Only to measure the time of decisions.
    std::unique_ptr<Policy> policy;
    std::unique_ptr<Policy> fallback;
    Mode mode = Mode::kOn;
    std::function<void(const Decision&)> on_decision = {};  ///< Not called in mode off.
  };

  explicit Tuner(Options options);

  /// Enforces limits and leads towards the goal, in every mode but off.
  void step();
  /// Observes, decides, applies. In `advise` it only reports what it would do, and the allocation
  /// at the begin of that mode stays the goal. Off: observes only.
  Decision decide();
  /// The tuned pipeline is away: drops what it observed, so that the next decision does not see it.
  void skip() { static_cast<void>(options_.tuned_pipeline.observe()); }

  Mode mode() const { return options_.mode; }
  void set_mode(Mode mode);
  const Policy& policy() const { return *options_.policy; }

 private:
  Proposal ask(const Observation& seen, const CurrentState& now, Decision& decision);
  Proposal ask_policy(const Observation& seen, Decision& decision);
  void keep_what_stands();
  void lead();

  Options options_;
  Guard guard_;
  int faults_ = 0;
  std::uint64_t decisions_ = 0;
  double expected_ = 0;
};

}  // namespace forebay::tuner
