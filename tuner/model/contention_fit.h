#pragma once

#include <vector>

#include "tuner/plan/plan.h"

namespace forebay::tuner {

/// Infers how a stage's service time grows with its actors, from one interval at a time.
///
/// Holds a grid of hypotheses about (alpha, beta) of the universal scalability law, each with a
/// weight and its own estimate of the time of one actor alone: a bank of one-dimensional Kalman
/// filters on the logarithm of the time. Few actors reveal nothing about contention, so the weights
/// are the prior's then, and the uncertainty stays visible as spread. A time that no hypothesis
/// explains is a change of the stage's work: the scale is learned anew, and the belief about
/// contention stays, but is weakened if the number of actors had changed, too. A value.
class ContentionFit {
 public:
  ContentionFit();

  /// Adds an interval: splits took `seconds` each (waiting for a CPU excluded) with `actors` alive;
  /// the logarithm of the mean has variance `variance`. Returns true if this was a change of the
  /// stage's work.
  bool observe(double actors, double seconds, double variance);

  /// Adds an interval in which none of `actors` completed a split within `seconds`: hypotheses that
  /// expected a split lose weight, and if all did, the work has grown.
  void outlast(double actors, double seconds);

  bool seen() const { return precision_ > 0; }

  /// The mean over the hypotheses; exact for every number of actors, since the law is linear in
  /// (seconds, seconds·alpha, seconds·beta). The CPU share is 1: it is not known here.
  StageCost mean() const;

  /// The hypothesis at quantile `u` in [0, 1).
  StageCost sample(double u) const;

  /// Standard deviation of the logarithm of the service time with `actors`.
  double spread(double actors) const;

  /// The state for a later run; restore() returns false for values that save() did not write.
  std::vector<double> save() const;
  bool restore(const std::vector<double>& saved);

 private:
  std::vector<double> weights_;
  std::vector<double> log_seconds_;
  double precision_ = 0;    // of log_seconds_, the same for all hypotheses
  double actors_ = 0;       // of the last interval with splits
  bool unsettled_ = false;  // the last interval showed a change and held both regimes
};

}  // namespace forebay::tuner
