#pragma once

#include <string>
#include <string_view>

#include "tuner/allocation.h"
#include "tuner/observation.h"

namespace forebay::tuner {

/// A policy's proposal for the next allocation.
struct Proposal {
  Allocation allocation = {};
  double expected_splits_per_second = 0;  ///< 0: no prediction.
  std::string reason = {};                ///< A few words for the log and the progress line.
};

/// Maps observations to allocations; the only part that differs between tuners.
///
/// Called once a period, from one thread. May keep any state. It may propose anything: the guard
/// decides what is applied (tuner/guard.h), and the next observation shows the applied allocation.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string_view name() const = 0;
  virtual Proposal decide(const Observation& seen) = 0;

  /// The state from which a later run of the same job can start, as text; empty: none.
  virtual std::string learned_state() const { return {}; }
  /// Restores such a state; returns false for another kind, version or pipeline. Call it before
  /// decide().
  virtual bool restore(std::string_view) { return false; }
};

}  // namespace forebay::tuner
