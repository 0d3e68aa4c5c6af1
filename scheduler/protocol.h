#pragma once

#include <string_view>

#include "core/runtime/actor_ref.h"
#include "scheduler/delivery.h"
#include "scheduler/job_opening.h"
#include "scheduler/membership.h"

namespace forebay::scheduler {

/// The messages between head, split client and workers (DESIGN.md, "Many machines"), one file for
/// each pair. All of them can be sent between processes. Fields are append-only: any other change
/// of a message requires the next version in its tag.

/// The names under which head and split client are published (core/node/node.h).
inline constexpr std::string_view kHeadName = "head";
inline constexpr std::string_view kSplitClientName = "feed";

using HeadRef = ActorRef<Join, Prepared, Heartbeat, GiveBack, Leave, OpenJob, Issue, Arrived,
                         Finished, CloseJob>;

}  // namespace forebay::scheduler
