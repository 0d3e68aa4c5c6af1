#pragma once

#include <cstdint>
#include <optional>

#include "tuner/thread_search.h"

namespace forebay::tuner {

/// An interval, as far as the number of the model's threads depends on it.
struct ThreadsSeen {
  std::uint32_t now = 0;   ///< Threads at its end.
  std::uint32_t most = 0;  ///< The model may have so many; 0: the tuner may not change them.
  double value = 0;        ///< Splits/s that trainer and nodes can bring so; 0: not known.
  bool fed = false;        ///< Whether the trainer hardly waited: else more cannot gain.
  bool quiet = false;      ///< Whether nodes and workers stay: else a trial could not be judged.
};

/// Finds the number of the model's threads as one of the central tuner's experiments: a
/// ThreadSearch, whose windows are intervals.
///
/// Its measurements begin anew while nodes or workers change, and a trial then ends without a
/// result. Where the model keeps another number than the one advised, the search begins at that
/// number. A value.
class ThreadCount {
 public:
  /// Returns the number from now on; 0: the model keeps its own.
  std::uint32_t decide(const ThreadsSeen& seen);
  /// Whether a number is on trial: nothing else is tried then.
  bool tries() const { return search_ && search_->tries(); }
  /// Whether the last decision ended a trial by keeping its number.
  bool kept() const { return kept_; }
  /// The latest finding, for the log.
  const char* why() const { return why_; }

 private:
  void begin(const ThreadsSeen& seen);
  void judge(double value);

  std::optional<ThreadSearch> search_;  // empty: the threads may not change
  std::uint32_t most_ = 0;
  int apart_ = 0;  // intervals in which the model had another number than advised
  bool kept_ = false;
  const char* why_ = "as it began";
};

}  // namespace forebay::tuner
