#pragma once

#include <cstdint>

namespace forebay::tuner {

/// An interval, as far as the number of workers depends on it.
struct CountSeen {
  std::uint32_t planned = 0;    ///< Workers with which the costs reach the wanted rate.
  std::uint32_t least = 0;      ///< Fewer cannot do, even if nodes make more than their costs say.
  std::uint32_t available = 0;  ///< Workers that could be fed.
  double wanted = 0;            ///< Splits/s that the plan wants; 0: nothing is known.
  double demand = 0;            ///< Splits/s that the trainer takes.
  double able = 0;    ///< Splits/s that the fed nodes could make by the costs; 0: not known.
  double rate = 0;    ///< Splits/s that all nodes made.
  double waited = 0;  ///< The share of time in which the trainer waited.
  /// The number stays, and nothing is measured: something else is on trial, or the trainer paused.
  bool held = false;
  bool renewed = false;  ///< Something else was found that makes this another work.
};

/// Finds the fewest workers that bring the rate: from the number that the costs say, by trying.
///
/// A worker has a price, kPrice of the rate for each: fewer workers are tried while they lose less,
/// in steps that double while they succeed; more are tried while the trainer waits, and stay where
/// they gain more. A number that was too few or useless is remembered until the work changes. A
/// value.
class WorkerCount {
 public:
  /// The share of the rate that a worker must be worth.
  static constexpr double kPrice = 0.01;

  std::uint32_t decide(const CountSeen& seen);
  /// The number without a try that is still judged: what is worth being paid for.
  std::uint32_t settled() const { return trying_ == Trying::kNothing ? now_ : before_; }
  /// Whether nothing is tried, and the costs of the work are known: others may be.
  bool rests() const;
  /// The latest finding, for the log.
  const char* why() const { return why_; }

 private:
  enum class Trying : std::uint8_t { kNothing, kFewer, kMore };

  std::uint32_t move_to(std::uint32_t workers, Trying trying, const char* why);
  std::uint32_t while_nothing_is_made(const CountSeen& seen);
  void measure(const CountSeen& seen);
  void begin_anew(const CountSeen& seen);
  bool work_changed(const CountSeen& seen);
  std::uint32_t judge_fewer(double rate);
  std::uint32_t judge_more(double rate);
  std::uint32_t next_try(const CountSeen& seen, double rate);

  bool begun_ = false;
  int age_ = 0;  // intervals since the work began or changed
  std::uint32_t now_ = 0;
  Trying trying_ = Trying::kNothing;
  std::uint32_t before_ = 0;  // the number that is compared with
  double before_rate_ = 0;
  int intervals_ = 0;  // since now_ changed
  double sum_ = 0;     // of the last ones' rates, without those that settle
  double wait_sum_ = 0;
  int counted_ = 0;
  int nothing_ = 0;    // intervals in a row in which the trainer waited and nothing was made
  int rest_ = 0;       // intervals until something is tried again
  int next_rest_ = 0;  // after the next try that fails
  std::uint32_t step_ = 1;
  std::uint32_t too_few_ = 0;  // so many are too few; 0: not known
  bool knows_too_few_ = false;
  std::uint32_t useless_ = 0;  // so many bring no more than fewer; 0: not known
  double anchor_ = 0;          // demand when the work began
  std::uint32_t anchor_available_ = 0;
  int departed_ = 0;
  const char* why_ = "by the costs";
};

}  // namespace forebay::tuner
