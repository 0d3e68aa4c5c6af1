#pragma once

#include <deque>

#include "core/base/random.h"
#include "tuner/agent/agent.h"
#include "tuner/agent/lesson.h"

namespace forebay::tuner {

/// Learns while a job runs: tries single steps now and then and records their measured effect.
///
/// Tries only if the pipeline has settled, the trainer waits, and the measured rate falls short of
/// what the machine could do. It tries a few times, one stage at a time, for one period each; then
/// it has converged, until the work or the machine changes. Each try becomes a lesson, and lessons
/// adjust the network's last layer. A value.
class Online {
 public:
  explicit Online(std::uint64_t seed) : random_(seed) {}

  /// After an interval with `actions` applied: returns the next actions, the agent's choice or a
  /// try.
  Actions next(const Observation& seen, const Agent& agent, Network& network);

  /// Whether the last next() was a try.
  bool trying() const { return trying_; }
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
  int tries_left_ = kTries;
  int settled_ = 0;   // intervals
  double usual_ = 0;  // reward while settled, mean
};

}  // namespace forebay::tuner
