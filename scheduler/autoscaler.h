#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::scheduler {

/// What an autoscaler is told, all in splits a second.
struct ScaleInput {
  double trained = 0;         ///< What the trainer took.
  double starved_ratio = 0;   ///< The share of its time that it waited for data.
  double local_rate = 0;      ///< What its own node makes when it is busy; 0: no stages there.
  double worker_rate = 0;     ///< What one more worker would make: fitted, or the mean; 0: unknown.
  std::uint32_t workers = 0;  ///< That are there, or asked for.
};

struct ScaleDecision {
  std::uint32_t workers = 0;
  std::string why;  ///< One line for the log.
};

/// What the trainer would take if it never waited.
double demand_of(const ScaleInput& input);

/// How many workers are worth having: the least that feed the trainer with some room to spare.
///
/// Grows at once, by what is missing; shrinks by one step, and only when fewer would have been
/// enough for `patience` decisions in a row, so that a short lull does not cost a start. Not
/// told about the past by anyone else: keep one a job. A value.
class Autoscaler {
 public:
  struct Options {
    std::uint32_t least = 0;
    std::uint32_t most = 64;
    double margin = 0.1;  ///< Room beyond the demand.
    std::uint32_t patience = 6;
    double starved = 0.02;  ///< Below this a trainer counts as fed.
  };

  explicit Autoscaler(const Options& options) : options_(options) {}

  ScaleDecision decide(const ScaleInput& input);

 private:
  std::uint32_t wanted(const ScaleInput& input) const;

  Options options_;
  std::uint32_t fewer_in_a_row_ = 0;
  std::uint32_t most_of_those_ = 0;  // The largest number that those decisions found enough.
};

/// The rule of tf.data service, as a yardstick: all consumption over the mean worker's
/// throughput, where throughputs further than one deviation from the mean count as the median.
std::uint32_t tf_data_service_workers(std::span<const double> trained,
                                      std::vector<double> worker_rates);

}  // namespace forebay::scheduler
