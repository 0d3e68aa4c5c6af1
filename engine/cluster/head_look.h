#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/cluster/network_endpoint.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Looks at a cluster over the network, as an unauthenticated peer who only asks: `forebay status
/// --join`. Owns its end of the network. Belongs to one thread.
class HeadLook {
 public:
  /// kInvalid: no address, or no keys where some are needed.
  static Result<std::unique_ptr<HeadLook>> open(const std::string& address,
                                                const std::string& keys);

  /// What the head at that address knows. kUnavailable: nobody there answers within `patience`.
  Result<scheduler::ClusterStatus> look(std::chrono::nanoseconds patience);

 private:
  explicit HeadLook(const std::string& address) : address_(address) {}

  const std::string address_;
  SystemClock clock_;
  std::unique_ptr<NetworkEndpoint> net_;
};

}  // namespace forebay
