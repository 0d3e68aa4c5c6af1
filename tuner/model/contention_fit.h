#pragma once

#include <vector>

#include "tuner/plan/cost.h"

namespace forebay::tuner {

/// How a stage's service time grows with its actors, inferred from intervals as they come.
///
/// Holds a grid of hypotheses about (alpha, beta) of the universal scalability law, each with a
/// weight and its own estimate of the time of one actor alone: a bank of one-dimensional Kalman
/// filters on the logarithm of the time. Few actors tell nothing about contention, so the weights
/// then are the prior's, and what is not known stays visible as spread. A time that no hypothesis
/// explains is a change of the stage's work: the scale is learnt anew, what is known of contention
/// stays, but is doubted where the number of actors had changed, too. A value.
class ContentionFit {
 public:
  ContentionFit();

  /// Splits took `seconds` each (waiting for a CPU left out) with `actors` alive; the logarithm of
  /// the mean has variance `variance`. True when this was a change of the stage's work.
  bool observe(double actors, double seconds, double variance);

  /// None of `actors` completed a split within `seconds`: hypotheses that expected one lose weight,
  /// and where all did, the work has grown.
  void outlast(double actors, double seconds);

  bool seen() const { return precision_ > 0; }

  /// Mean over the hypotheses; exact for every number of actors, since the law is linear in
  /// (seconds, seconds·alpha, seconds·beta). The CPU share is 1: not known here.
  StageCost mean() const;

  /// The hypothesis at quantile `u` in [0, 1).
  StageCost sample(double u) const;

  /// Standard deviation of the logarithm of the service time with `actors`.
  double spread(double actors) const;

  /// What a later run can start from; restore() is false for what save() did not write.
  std::vector<double> save() const;
  bool restore(const std::vector<double>& saved);

 private:
  std::vector<double> weights_;
  std::vector<double> log_seconds_;
  double precision_ = 0;    // of log_seconds_, the same for all
  double actors_ = 0;       // with which splits were last seen
  bool unsettled_ = false;  // a change was seen in the last interval, which held both regimes
};

}  // namespace forebay::tuner
