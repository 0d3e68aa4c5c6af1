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

/// The split client and the head: the job, what may be leased, what is here, what the trainer has.

/// Head → split client: the job is yours, and the store cut to your position.
struct JobOpened {
  std::uint64_t session = 0;  ///< Names this opening; an older one's messages are refused.
  static auto fields(auto& self) { return std::tie(self.session); }
};

/// Split client → head: this is the job; all below `finished_below`, and those of `finished`, were
/// handed to the trainer. The store is cut back to that before anything is leased. `issued` and
/// `arrived`: what a split client that lives on after its head died has had leased already;
/// `arrived` are among `issued`. kOverloaded: the trainer of another job lives.
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
  std::uint32_t min_workers = 0;  ///< Nothing is leased before so many have been ready at once.
  static auto fields(auto& self) {
    return std::tie(self.job, self.finished_below, self.finished, self.issued, self.arrived,
                    self.split_client_address, self.split_client, self.min_workers);
  }
};

/// Split client → head: these splits may be leased now: the trainer's node has room for them.
struct Issue {
  static constexpr std::string_view kTag = "cluster.issue/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Split client → head: these splits are here; their leases end.
struct Arrived {
  static constexpr std::string_view kTag = "cluster.arrived/1";
  std::vector<std::uint64_t> splits;
  std::uint64_t session = 0;
  static auto fields(auto& self) { return std::tie(self.splits, self.session); }
};

/// Split client → head: handed to the trainer. Answered when it is on disk.
struct Finished {
  static constexpr std::string_view kTag = "cluster.finished/1";
  std::uint64_t below = 0;         ///< All of them,
  std::vector<SplitRange> ranges;  ///< and these above.
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
