#pragma once

#include <cstdint>
#include <string>

namespace forebay::scheduler {

/// The input of an autoscaler; rates are in splits per second.
struct ScaleInput {
  double trained = 0;         ///< The rate at which the trainer took splits.
  double starved_ratio = 0;   ///< The share of its time that the trainer waited for data.
  double local_rate = 0;      ///< The trainer's own node's rate when busy; 0: no stages there.
  double worker_rate = 0;     ///< The rate of one more worker: fitted, or the mean; 0: unknown.
  std::uint32_t workers = 0;  ///< Workers that are running or requested.
};

struct ScaleDecision {
  std::uint32_t workers = 0;
  std::string why;  ///< One line for the log.
};

/// The rate at which the trainer would take splits if it never waited.
double demand_of(const ScaleInput& input);

/// Decides the number of workers: the least that feed the trainer, with some headroom.
///
/// Grows at once to the number required. Shrinks in one step, and only if fewer workers would have
/// been enough for `patience` decisions in a row, so that no worker is started again after a lull.
/// Remembers earlier decisions: keep one for each job. A value.
class Autoscaler {
 public:
  struct Options {
    std::uint32_t least = 0;
    std::uint32_t most = 64;
    double margin = 0.1;  ///< Headroom beyond the demand.
    std::uint32_t patience = 6;
    double starved = 0.02;  ///< A trainer with a lower starved ratio counts as fed.
  };

  explicit Autoscaler(const Options& options) : options_(options) {}

  ScaleDecision decide(const ScaleInput& input);

 private:
  std::uint32_t wanted(const ScaleInput& input) const;

  Options options_;
  std::uint32_t fewer_in_a_row_ = 0;
  std::uint32_t most_of_those_ = 0;  // The largest number that those decisions found enough.
};

}  // namespace forebay::scheduler
