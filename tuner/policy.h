#pragma once

#include <string>
#include <string_view>

#include "tuner/allocation.h"
#include "tuner/observation.h"

namespace forebay::tuner {

/// What a policy would like next.
struct Proposal {
  Allocation allocation = {};
  double expected_splits_per_second = 0;  ///< 0: it does not say.
  std::string reason = {};                ///< A few words for the log and the progress line.
};

/// Maps what was observed to what should be allocated; the only part that differs between tuners.
///
/// Called once a period, from one thread. Keeps what state it likes. It may propose anything: what
/// is applied is the guard's decision (tuner/guard.h), and what was applied is in the next
/// observation.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string_view name() const = 0;
  virtual Proposal decide(const Observation& seen) = 0;

  /// What a later run of the same job could start from, as text; empty: nothing.
  virtual std::string learned_state() const { return {}; }
  /// Takes that back; false when it is of another kind, version or layout. Before decide().
  virtual bool restore(std::string_view) { return false; }
};

}  // namespace forebay::tuner
