#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"
#include "tuner/agent/agent.h"
#include "tuner/allocation.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// What an agent has learned about a job; a later run of the job starts from it.
struct LearnedState {
  PipelineDescription description;          ///< The stages that the state belongs to, by name.
  std::vector<std::vector<double>> stages;  ///< PipelineEstimate::save().
  std::vector<float> last_layer;            ///< The network's last layer after fine-tuning.
};

/// Encodes the state as JSON, with a version.
std::string encode_learned_state(const LearnedState& learned_state);

/// Returns nothing if the text is damaged, too long, of another version or of other stages than
/// `description`'s.
std::optional<LearnedState> decode_learned_state(std::string_view text,
                                                 const PipelineDescription& description);

/// Learns while a job runs: tries single steps now and then and records their measured effect.
///
/// Tries only if the pipeline has settled, the trainer waits, and the measured rate falls short of
/// what the machine could do, and no step that by the costs takes more than 3 % of the rate. It
/// tries a few times, one stage at a time, for one period each; then it has converged, until the
/// work or the machine changes. Each try becomes a lesson, and lessons adjust the network's last
/// layer. A value.
class Online {
 public:
  explicit Online(std::uint64_t seed) : random_(seed) {}

  /// After an interval with `actions` applied: returns the next actions, the agent's choice or a
  /// try.
  Actions next(const Observation& seen, const Agent& agent, Network& network);

  /// Whether the last next() was a try.
  bool trying() const { return trying_; }
  /// What the try that ended in the last next() showed: the stage, and the share by which the
  /// reward rose.
  struct Outcome {
    std::size_t stage = 0;
    double gain = 0;
  };
  const std::optional<Outcome>& outcome() const { return outcome_; }
  /// Whether no tries are left.
  bool converged() const { return tries_left_ == 0; }

 private:
  static constexpr int kTries = 3;  // after each change of the work or the machine

  void settle(double reward);
  void learn(double reward, Network& network);
  Actions attempt(const Agent& agent);

  Random random_;
  std::deque<Lesson> lessons_;
  Lesson pending_;
  bool trying_ = false;
  std::size_t tried_stage_ = 0;
  std::optional<Outcome> outcome_;
  int tries_left_ = kTries;
  int settled_ = 0;   // intervals
  double usual_ = 0;  // reward while settled, mean
};

/// The inputs of an Intune.
struct IntuneOptions {
  PipelineDescription description;
  RewardMode reward = RewardMode::kUsable;
  Ablation ablation = Ablation::kNone;
  std::uint64_t seed = 1;
  std::string weights = {};  ///< A file; empty: the weights of this build.
};

/// The agent: a model fitted to the measurements, a network that steps around the model's plan, and
/// learning from the measured effect of steps (InTune, Nagrecha et al., RecSys 2023, and beyond it;
/// DESIGN.md).
class Intune final : public Policy {
 public:
  /// Returns kCorrupt or kNotFound if the weights cannot be used.
  static Result<std::unique_ptr<Policy>> make(const IntuneOptions& options);

  /// "intune", or with a part left out, for example "intune:no-network".
  std::string_view name() const override;
  Proposal decide(const Observation& observed) override;
  std::string learned_state() const override;
  bool restore(std::string_view text) override;

 private:
  Intune(const IntuneOptions& options, Network network);
  std::string reason(const Observation& seen, const Allocation& next) const;
  Beliefs beliefs(const Observation& seen) const;
  std::string outcome() const;

  IntuneOptions options_;
  Network network_;
  Agent agent_;
  Online online_;
  std::optional<Allocation> last_;
};

}  // namespace forebay::tuner
