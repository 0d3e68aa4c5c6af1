#pragma once

#include <string>

#include "scheduler/worker/worker_actor.h"

namespace forebay {

/// Returns this machine's host name as other nodes can resolve it.
std::string host_name();

/// Returns "H:P" as other nodes can connect to it: if H means every interface, this machine's name
/// replaces H.
std::string reachable(const std::string& address);

/// The program's version, which must be equal on all nodes of a job.
std::string program_version();
/// A digest of the operators this program knows; must be equal on all nodes, too.
std::string operators_digest();

/// Returns the options common to all workers of this process; the caller fills in the rest.
scheduler::WorkerOptions worker_here(const std::string& name);

}  // namespace forebay
