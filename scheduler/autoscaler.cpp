#include "scheduler/autoscaler.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace forebay::scheduler {
namespace {

/// Prints enough digits to check the sum by hand.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

std::string sum_of(const ScaleInput& input, double margin) {
  return "the trainer takes " + number(demand_of(input)) + " splits/s when it never waits (+ " +
         number(margin * 100) + " %), its own node makes " + number(input.local_rate) +
         ", a worker " + number(input.worker_rate);
}

}  // namespace

double demand_of(const ScaleInput& input) {
  const double waited = std::clamp(input.starved_ratio, 0.0, 0.95);
  return input.trained / (1 - waited);
}

std::uint32_t Autoscaler::wanted(const ScaleInput& input) const {
  const double missing = demand_of(input) * (1 + options_.margin) - input.local_rate;
  const double many = std::ceil(std::max(0.0, missing) / input.worker_rate - 1e-9);
  return static_cast<std::uint32_t>(
      std::clamp(many, static_cast<double>(options_.least), static_cast<double>(options_.most)));
}

ScaleDecision Autoscaler::decide(const ScaleInput& input) {
  if (input.worker_rate <= 0) {
    // The rate of a worker is unknown without one: start one worker if the trainer waits.
    const bool try_one = input.workers == 0 && input.starved_ratio > options_.starved;
    const std::uint32_t first =
        std::clamp(try_one ? 1U : input.workers, options_.least, options_.most);
    return {first, try_one ? "the trainer waits " + number(input.starved_ratio * 100) +
                                 " % of its time; one worker, to see what it makes"
                           : "what a worker makes is not known yet"};
  }
  const std::uint32_t enough = wanted(input);
  if (enough >= input.workers) {
    fewer_in_a_row_ = 0;
    most_of_those_ = 0;
    return {enough, sum_of(input, options_.margin) + ": " + std::to_string(enough) + " workers"};
  }
  most_of_those_ = std::max(most_of_those_, enough);
  if (input.starved_ratio > options_.starved || ++fewer_in_a_row_ < options_.patience) {
    return {input.workers, sum_of(input, options_.margin) + ": " + std::to_string(enough) +
                               " would do, kept for now"};
  }
  const std::uint32_t fewer = most_of_those_;
  fewer_in_a_row_ = 0;
  most_of_those_ = 0;
  return {fewer, sum_of(input, options_.margin) + ": " + std::to_string(fewer) +
                     " have been enough " + std::to_string(options_.patience) + " times"};
}

}  // namespace forebay::scheduler
