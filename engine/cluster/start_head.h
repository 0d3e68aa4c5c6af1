#pragma once

#include <string_view>

#include "core/store/store.h"
#include "engine/cluster/network_endpoint.h"
#include "scheduler/head_actor.h"

namespace forebay {

/// Under which name a head answers QueryCluster, and a trainer's process its workers' tuners.
inline constexpr std::string_view kStatusName = "status";
inline constexpr std::string_view kTunersName = "tuners";

/// Starts a head over what `store` remembers and lets every peer reach it. It takes workers of this
/// program's version and operators. `store` outlives the network's actors.
Result<scheduler::HeadActor::Ref> start_head(NetworkEndpoint& net, Store& store,
                                             scheduler::HeadOptions options);

}  // namespace forebay
