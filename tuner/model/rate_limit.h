#pragma once

#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// The splits that a stage completed in an interval, as means.
struct Served {
  double seconds = 0;  ///< The interval's length.
  double done = 0;     ///< Splits, at least 1.
  double wall = 0;     ///< Seconds of a split, without waiting for a CPU.
  double cpu = 0;      ///< Of those, on a CPU.
  double actors = 0;   ///< Alive when a split began.
};

/// Infers the most splits/s that a disk or a link lets a stage do.
///
/// A limit shows as waiting that comes without CPU time. Long splits end in waves: their rate, what
/// they sustain, and that a limit does not explain them, all show only over the time of one. A
/// value.
class RateLimit {
 public:
  /// Adds an interval without a completed split, the work on which has lasted `unfinished` seconds.
  void observe_none(double seconds, double unfinished);
  /// Adds an interval; returns whether it shows that there was no limit: fewer actors completed
  /// fewer splits, or more of them more, and waited as long. By what was known before, splits take
  /// `intrinsic` seconds without waiting; 0: that is not known.
  bool refuted_by(const StageObservation& stage, const Served& served, double intrinsic);
  /// After refuted_by(), for the same interval: splits take `intrinsic` seconds without the limit.
  /// Does not lower the limit while actors come and go: the splits completed then began among other
  /// numbers of them, and end in waves.
  void learn(const StageObservation& stage, const Served& served, double intrinsic);

  /// Splits/s; 0: no limit was seen.
  double value() const { return limit_; }
  /// Whether several actors showed the limit, and the rate is still about theirs.
  bool binds_several() const;
  /// Whether more than one actor waited for what these splits waited for.
  static bool is_shared(const Served& served);
  /// Whether splits that take `intrinsic` seconds on their own waited for a limit.
  static bool waited(const Served& served, double intrinsic);

 private:
  double limit_ = 0;
  double shared_ = 0;     // the same, as several actors last showed it
  double actors_ = 0;     // with which the limit was seen
  double seconds_ = 0;    // of a split at that time
  double rate_ = 0;       // splits/s, over about the time of one
  double sustained_ = 0;  // the highest rate of the last few service times, fading
  double missed_ = 0;     // seconds for which the limit has not explained the rate
};

}  // namespace forebay::tuner
