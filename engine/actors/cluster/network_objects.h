#pragma once

#include <cstdint>
#include <string>

#include <forebay/object.h>

#include "engine/actors/objects/objects.h"
#include "engine/network/network_endpoint.h"

namespace forebay {

/// A number that no other process of the cluster has.
std::uint64_t number_of_process();

/// The objects of a process in a network. `address`: where others reach it; "": they do not. `net`
/// outlives them.
Objects::Options objects_of(const actors::ObjectLimits& limits, const std::string& address,
                            NetworkEndpoint& net);

/// Lets other processes reach these objects.
void publish(Objects& objects, NetworkEndpoint& net);

}  // namespace forebay
