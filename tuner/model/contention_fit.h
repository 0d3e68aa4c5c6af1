#pragma once

#include <span>
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
  /// the logarithm of the mean has variance `variance`. Intervals that show the same splits under
  /// way tell the hypotheses apart only once: each counts for so much `news`, up to 1. Returns true
  /// if this was a change of the stage's work.
  bool observe(double actors, double seconds, double variance, double news = 1);

  /// Learns the scale anew: splits take `seconds` with `actors`. What is believed about contention
  /// stays.
  void renew(double actors, double seconds, double variance);

  /// Adds an interval in which none of `actors` completed a split within `seconds`: hypotheses that
  /// expected a split lose weight, and if all did, the work has grown.
  void outlast(double actors, double seconds);

  /// Doubts the belief about contention: half of it becomes the prior. What is known of the time
  /// with `actors` stays. evidence() starts anew.
  void question(double actors);
  /// Starts evidence() anew.
  void weigh() {
    evidence_ = 0;
    weighs_ = true;
  }
  /// The logarithm of the likelihood of all intervals since the last question() or weigh().
  double evidence() const { return evidence_; }

  bool seen() const { return precision_ > 0; }

  /// The mean over the hypotheses; exact for every number of actors, since the law is linear in
  /// (seconds, seconds·alpha, seconds·beta). The CPU share is 1: it is not known here.
  StageCost mean() const { return mean_; }

  /// The hypothesis at quantile `u` in [0, 1).
  StageCost sample(double u) const;

  /// The probability that a service with `actors` takes longer than `times` the time of one alone.
  double risk(double actors, double times) const;

  /// Standard deviation of the logarithm of the service time with `actors`.
  double spread(double actors) const;

  /// The state for a later run; restore() returns false for values that save() did not write.
  std::vector<double> save() const;
  bool restore(const std::vector<double>& saved);

 private:
  void summarise();
  void slow_with(double actors);
  double log_variance(double actors) const;
  bool strays(double residual, double variance);
  double likelihood(std::span<const double> residuals, double variance) const;

  // By hypothesis.
  std::vector<double> weights_;
  std::vector<double> log_seconds_;  // of one actor alone
  std::vector<double> seconds_;      // the same
  std::vector<double> log_slows_;    // the logarithm of slow() with
  double slows_of_ = 1;              // so many actors

  StageCost mean_;           // of weights_ and seconds_
  double sum_ = 0;           // of weights_
  double log_variance_ = 0;  // over the hypotheses, of the time with slows_of_ actors
  double precision_ = 0;     // of log_seconds_, the same for all hypotheses
  double actors_ = 0;        // of the last interval with splits
  bool unsettled_ = false;   // the last interval showed a change and held both regimes
  int steady_ = 0;           // intervals since the scale was learned anew
  int excused_ = 0;          // surprises since the last doubt that may be the rest of a change
  double evidence_ = 0;
  bool weighs_ =
      false;            // since the first weigh(): it costs time, and most stages are never doubted
  double strayed_ = 0;  // sum of the last residuals, older ones fading
  double strayed_variance_ = 0;  // that chance would give the sum
  double strayed_weight_ = 0;    // intervals in it
};

}  // namespace forebay::tuner
