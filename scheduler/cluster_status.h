#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/runtime/message.h"
#include "scheduler/job_use.h"

namespace forebay::scheduler {

/// One member, as shown by `forebay status` and the metrics.
struct NodeStatus {
  enum class State : std::uint8_t {
    kJoined,    ///< Has no job yet, or is opening the job's files.
    kPrepared,  ///< May be leased splits.
    kRefused,   ///< Is leased no splits: `trouble` says why.
  };

  std::string name;
  std::string host;
  std::uint64_t incarnation = 0;
  std::uint64_t pid = 0;
  double cpus = 0;
  std::uint64_t memory_limit = 0;
  State state = State::kJoined;
  std::string trouble;
  std::uint64_t capacity = 0;  ///< Splits that it wants to hold at a time.
  std::uint64_t leases = 0;
  std::uint64_t splits_done = 0;
  double rate = 0;  ///< Splits per second, smoothed over several seconds.
  double busy_cpus = 0;
  std::uint64_t memory_used = 0;
  double silent_seconds = 0;
  JobUse use = {};        ///< For the open job, while it is prepared.
  double could_make = 0;  ///< Splits per second with enough leases; 0: not known.
  double busy = 1;        ///< The share of time in which it had as much work as it takes.
  static auto fields(auto& self) {
    return std::tie(self.name, self.host, self.incarnation, self.pid, self.cpus, self.memory_limit,
                    self.state, self.trouble, self.capacity, self.leases, self.splits_done,
                    self.rate, self.busy_cpus, self.memory_used, self.silent_seconds, self.use,
                    self.could_make, self.busy);
  }
};

/// The state of a head at one moment.
struct ClusterStatus {
  std::string job;  ///< The job's id; empty: no job is open.
  std::uint64_t session = 0;
  std::uint64_t epoch = 0;
  std::uint64_t splits = 0;  ///< Of all epochs.
  std::uint64_t finished = 0;
  std::uint64_t waiting = 0;  ///< Issued and not leased.
  std::uint64_t leased = 0;
  std::uint64_t issued_again = 0;  ///< Leases that ended without an arrival, since the start.
  std::uint64_t prepared = 0;      ///< Workers that may be leased splits.
  double rate = 0;                 ///< Splits per second of all workers.
  double mean_worker_rate = 0;     ///< Of workers outside the trainer's process.
  std::vector<NodeStatus> nodes;
  std::vector<std::string> problems;  ///< One sentence each; empty: no problems.
  static auto fields(auto& self) {
    return std::tie(self.job, self.session, self.epoch, self.splits, self.finished, self.waiting,
                    self.leased, self.issued_again, self.prepared, self.rate, self.mean_worker_rate,
                    self.nodes, self.problems);
  }
};

/// Any actor → head: query the cluster's status.
struct QueryCluster {
  static constexpr std::string_view kTag = "cluster.query/1";
  using Reply = ClusterStatus;
  static auto fields(auto&) { return std::tie(); }
};

/// The state of a split client at one moment.
struct SplitClientStatus {
  bool open = false;                 ///< The head has opened the job.
  std::uint64_t session = 0;         ///< The last one; 0: none so far.
  std::uint64_t issued = 0;          ///< Splits not yet announced by a worker.
  std::uint64_t pulling = 0;         ///< Splits requested from a worker and in transit.
  std::uint64_t arrived = 0;         ///< Splits received and not yet handed to the trainer.
  std::uint64_t duplicates = 0;      ///< Splits announced or delivered again, since the start.
  std::uint64_t bytes_received = 0;  ///< Over the network, since the start.
  std::vector<std::string> problems;
};

/// Any actor → split client: query its status.
struct QuerySplitClient {
  static constexpr std::string_view kTag = "cluster.query_feed/1";
  using Reply = SplitClientStatus;
};

}  // namespace forebay::scheduler
