#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/runtime/message.h"
#include "scheduler/delivery.h"
#include "scheduler/job_share.h"

namespace forebay::scheduler {

/// Messages from the split client to the head: the job, and which splits may be leased, have
/// arrived, or were handed to the trainer.

/// Head → split client: the job is open, and the store is cut back to your position.
struct JobOpened {
  std::uint64_t session = 0;  ///< Identifies this opening; messages of an earlier one are refused.
  static auto fields(auto& self) { return std::tie(self.session); }
};

/// Split client → head: opens this job. All splits below `finished_below` and those in `finished`
/// were handed to the trainer; the head cuts its store back to that before it leases anything.
/// `issued` and `arrived`, a subset of it, are the splits that a split client had issued to an
/// earlier head that died. Refused with kOverloaded while the trainer of another job lives.
struct OpenJob {
  static constexpr std::string_view kTag = "cluster.open_job/1";
  using Reply = JobOpened;
  JobShare job;
  std::uint64_t finished_below = 0;
  std::vector<SplitRange> finished;
  std::vector<SplitRange> issued;
  std::vector<std::uint64_t> arrived;
  std::string split_client_address;
  SplitClientRef split_client;
  std::uint32_t min_workers = 0;  ///< No leases before so many have been ready at once.
  static auto fields(auto& self) {
    return std::tie(self.job, self.finished_below, self.finished, self.issued, self.arrived,
                    self.split_client_address, self.split_client, self.min_workers);
  }
};

/// Split client → head: these splits may be leased now; the trainer's node has space for them.
struct Issue {
  static constexpr std::string_view kTag = "cluster.issue/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Split client → head: these splits have arrived; their leases end.
struct Arrived {
  static constexpr std::string_view kTag = "cluster.arrived/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Split client → head: these splits were handed to the trainer. Answered when that is on disk.
struct Finished {
  static constexpr std::string_view kTag = "cluster.finished/1";
  std::uint64_t below = 0;         ///< All splits below this,
  std::vector<SplitRange> ranges;  ///< and these above it.
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.below, self.ranges, self.session); }
};

/// Split client → head: the job is over.
struct CloseJob {
  static constexpr std::string_view kTag = "cluster.close_job/1";
  std::string job;
  std::string error;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.job, self.error, self.session); }
};

}  // namespace forebay::scheduler
