#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "tuner/fused_stages.h"

namespace forebay::tuner {

/// What an interval with the same cuts showed.
struct CutInterval {
  double splits_per_second = 0;
  bool fed = false;  ///< The trainer would have taken no more.
  /// The share of the stages' CPUs that they used.
  double used = 0;
  /// The same with the time that splits waited for a CPU. More than 1 does not mean that the CPUs
  /// are the limit: splits that waited for the same disk go on together, and then wait for a CPU.
  double wanted = 0;
  /// Of each stage: the share of a split's time in which it waits for something but a CPU.
  std::vector<double> waiting = {};
};

/// Cuts that were tried against those before, and which of them are used afterwards.
struct CutTrial {
  Joins before;
  Joins tried;
  double rate_before = 0;  ///< Splits/s.
  double rate_tried = 0;
  bool kept = false;
};

/// Finds where cuts between fused stages should lie: where splits change actors.
///
/// A cut costs the hand-over of each split, which goes cold on the way, and buys numbers of actors
/// of their own on both sides. So a cut is tried where the CPUs have room and the two stages wait
/// differently, of which one then needs more actors than the other; a join is tried where the CPUs
/// are the limit. One cut is moved at a time, and only once the rate no longer grows under the
/// present ones. A trial stays if its rate is clearly higher; it ends early if it is clearly lower.
/// A move that has failed is tried again after a rest, which doubles with each failure, or when the
/// rate has changed for good; but never before what all trials lost is at most a twentieth of what
/// would have been made since. Nothing is tried while the trainer is fed. Pure; a value.
class CutSearch {
 public:
  /// `may_join`: for each stage, whether it may join the one before.
  CutSearch(Joins may_join, Joins start);

  /// The best joins so far.
  const Joins& stands() const { return stands_; }
  /// The joins to use now.
  const Joins& joins() const { return trial_ ? trial_->tried : stands_; }
  /// The trial under way.
  const std::optional<CutTrial>& trial() const { return trial_; }

  /// Adds an interval with joins(). Returns a trial that has just ended.
  std::optional<CutTrial> add(const CutInterval& seen);

  /// Others have set the cuts: goes on from these.
  void adopt(Joins joins);

 private:
  double mean_of_last(std::size_t count) const;
  bool still_grows() const;
  std::optional<CutTrial> judge();
  void consider(const CutInterval& seen);
  std::optional<std::size_t> next_cut(const CutInterval& seen) const;
  std::optional<std::size_t> next_join(const CutInterval& seen) const;
  void count_loss(double splits_per_second);
  void watch_rest();
  void restart();

  const Joins may_join_;
  Joins stands_;
  std::optional<CutTrial> trial_;
  std::deque<double> rates_;  // of the last intervals with these cuts, without the first
  int intervals_ = 0;         // with these cuts
  std::vector<bool> failed_;  // to move the cut before a stage
  int rested_ = 0;            // intervals since the last failure
  int rest_;
  double rest_rate_ = 0;  // 0: not known
  double lost_ = 0;       // loss by trials, in intervals' worth of splits, less its repayment
};

}  // namespace forebay::tuner
