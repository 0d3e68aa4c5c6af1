#pragma once

#include <string_view>

#include "core/store/store.h"
#include "engine/cluster/network_endpoint.h"
#include "scheduler/head/head_actor.h"

namespace forebay {

/// Names under which a head answers QueryCluster and a trainer's process answers its workers'
/// tuners.
inline constexpr std::string_view kStatusName = "status";
inline constexpr std::string_view kTunersName = "tuners";

/// Starts a head with the state in `store` and makes it reachable for every peer. It accepts
/// workers with this program's version and operators. `store` outlives the network's actors.
Result<scheduler::HeadActor::Ref> start_head(NetworkEndpoint& net, Store& store,
                                             scheduler::HeadOptions options);

}  // namespace forebay
