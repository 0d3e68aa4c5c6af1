#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "scheduler/cluster_view.h"

namespace forebay::scheduler {

/// One member, as `forebay status` and the metrics show it.
struct NodeStatus {
  std::string name;
  std::string host;
  std::uint64_t incarnation = 0;
  std::uint64_t pid = 0;
  double cpus = 0;
  std::uint64_t memory_limit = 0;
  NodeView::State state = NodeView::State::kJoined;
  std::string trouble;
  std::uint64_t capacity = 0;  ///< Splits that it wants in hand.
  std::uint64_t leases = 0;
  std::uint64_t splits_done = 0;
  double rate = 0;  ///< Splits a second.
  double busy_cpus = 0;
  std::uint64_t memory_used = 0;
  double silent_seconds = 0;
  static auto fields(auto& self) {
    return std::tie(self.name, self.host, self.incarnation, self.pid, self.cpus, self.memory_limit,
                    self.state, self.trouble, self.capacity, self.leases, self.splits_done,
                    self.rate, self.busy_cpus, self.memory_used, self.silent_seconds);
  }
};

/// What a head knows, at one moment.
struct ClusterStatus {
  std::string job;  ///< Its id; empty: none is open.
  std::uint64_t session = 0;
  std::uint64_t epoch = 0;
  std::uint64_t splits = 0;  ///< Of all epochs.
  std::uint64_t finished = 0;
  std::uint64_t waiting = 0;  ///< Issued, and not leased.
  std::uint64_t leased = 0;
  std::uint64_t issued_again = 0;  ///< Leases that ended without an arrival, since the start.
  std::uint64_t prepared = 0;      ///< Workers that are leased splits.
  double rate = 0;                 ///< Splits a second, of all workers.
  double mean_worker_rate = 0;     ///< Of those outside the trainer's process, for the autoscaler.
  std::vector<NodeStatus> nodes;
  std::vector<std::string> problems;  ///< A sentence each; empty: all is well.
  static auto fields(auto& self) {
    return std::tie(self.job, self.session, self.epoch, self.splits, self.finished, self.waiting,
                    self.leased, self.issued_again, self.prepared, self.rate, self.mean_worker_rate,
                    self.nodes, self.problems);
  }
};

/// Anyone → head: how is the cluster?
struct QueryCluster {
  static constexpr std::string_view kTag = "cluster.query/1";
  using Reply = ClusterStatus;
  static auto fields(auto&) { return std::tie(); }
};

/// What a split client knows, at one moment.
struct SplitClientStatus {
  bool open = false;                 ///< The head has the job.
  std::uint64_t session = 0;         ///< The last one; 0: none yet.
  std::uint64_t issued = 0;          ///< Wait for a worker to say that it has them.
  std::uint64_t pulling = 0;         ///< Were asked for and are on their way.
  std::uint64_t arrived = 0;         ///< Are here, and not handed to the trainer.
  std::uint64_t duplicates = 0;      ///< Announced or delivered again, since the start.
  std::uint64_t bytes_received = 0;  ///< Over the network, since the start.
  std::vector<std::string> problems;
  static auto fields(auto& self) {
    return std::tie(self.open, self.session, self.issued, self.pulling, self.arrived,
                    self.duplicates, self.bytes_received, self.problems);
  }
};

/// Anyone → split client: how is it?
struct QuerySplitClient {
  static constexpr std::string_view kTag = "cluster.query_feed/1";
  using Reply = SplitClientStatus;
  static auto fields(auto&) { return std::tie(); }
};

}  // namespace forebay::scheduler
