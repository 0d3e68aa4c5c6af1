#pragma once

#include <cstdint>
#include <string>
#include <tuple>

namespace forebay::scheduler {

/// A job as described by its trainer; `text` is opaque to the head.
struct JobShare {
  std::string id;           ///< Unique among the runs of all jobs.
  std::string text;         ///< What a worker needs to open the job (engine/cluster/job_text.h).
  std::string fingerprint;  ///< Of dataset, order and operators; a worker's must be equal.
  std::uint64_t splits_per_epoch = 0;
  std::uint64_t epochs = 0;
  static auto fields(auto& self) {
    return std::tie(self.id, self.text, self.fingerprint, self.splits_per_epoch, self.epochs);
  }
  friend bool operator==(const JobShare&, const JobShare&) = default;
};

/// The splits `first` to `last`, both included, counted over all epochs.
struct SplitRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  static auto fields(auto& self) { return std::tie(self.first, self.last); }
  friend bool operator==(const SplitRange&, const SplitRange&) = default;
};

}  // namespace forebay::scheduler
