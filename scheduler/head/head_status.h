#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/cluster_status.h"
#include "scheduler/head/head_options.h"
#include "scheduler/head/head_state.h"
#include "scheduler/head/lease_table.h"
#include "scheduler/head/members.h"

namespace forebay::scheduler {

/// What a head knows at one moment, as references that live as long as the head.
struct HeadView {
  using Time = std::chrono::nanoseconds;

  const HeadOptions& options;
  const HeadState& state;
  const Members& members;
  const LeaseTable& leases;
  const std::string& store_error;               ///< Why the store cannot be written; empty: it can.
  std::optional<Time> split_client_gone_since;  ///< Set while an open job has no split client.
  std::optional<Time> no_worker_since;          ///< Set while an open job has no prepared worker.
  std::uint32_t workers_awaited = 0;  ///< No lease before so many are ready; 0: that is over.
  std::uint64_t issued_again = 0;
  Time now = {};
};

/// Returns the status of the cluster, with its problems as one sentence each. Pure.
ClusterStatus status_of(const HeadView& head);

}  // namespace forebay::scheduler
