#pragma once

#include "engine/network/network_endpoint.h"
#include "scheduler/client/split_client.h"

namespace forebay {

/// Starts the split client of a trainer's process and makes it reachable for every peer. It begins
/// when its owner sends BeginSplitClient. `heads` and `sink` outlive the network's actors.
scheduler::SplitClient::Ref host_split_client(NetworkEndpoint& net,
                                              scheduler::SplitClientOptions options,
                                              scheduler::HeadFinder& heads,
                                              scheduler::ArrivalSink& sink);

}  // namespace forebay
