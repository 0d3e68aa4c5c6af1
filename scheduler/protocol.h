#pragma once

#include <string_view>

#include "core/runtime/actor_ref.h"
#include "scheduler/delivery.h"
#include "scheduler/job_opening.h"
#include "scheduler/membership.h"

namespace forebay::scheduler {

/// What head, split client and workers tell each other (DESIGN.md, "Many machines"): a file for
/// each two of them. Every message there can travel. Fields are append-only: a message that must
/// change otherwise gets the next version.

/// What head and split client are published as (core/node/node.h).
inline constexpr std::string_view kHeadName = "head";
inline constexpr std::string_view kSplitClientName = "feed";

using HeadRef = ActorRef<Join, Prepared, Heartbeat, GiveBack, Leave, OpenJob, Issue, Arrived,
                         Finished, CloseJob>;

}  // namespace forebay::scheduler
