#pragma once

#include <string>

#include "scheduler/worker_actor.h"

namespace forebay {

/// This machine's name, as other nodes may know it.
std::string host_name();

/// "H:P" as others reach it: where it means every interface, this machine's name stands for H.
std::string reachable(const std::string& address);

/// What nodes of one job have in common: the program's version,
std::string program_version();
/// and a digest of the operators it knows.
std::string operators_digest();

/// What every worker of this process says of itself; the rest is its owner's to fill in.
scheduler::WorkerOptions worker_here(const std::string& name);

}  // namespace forebay
