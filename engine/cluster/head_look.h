#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/cluster/network_endpoint.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Queries a cluster over the network for `forebay status --join`, as an unauthenticated peer that
/// only reads. Owns its network endpoint. Belongs to one thread.
class HeadLook {
 public:
  /// kInvalid: the address is wrong, or keys are needed and missing.
  static Result<std::unique_ptr<HeadLook>> open(const std::string& address,
                                                const std::string& keys);

  /// Returns the cluster status from the head at that address. kUnavailable: no head answers there
  /// within `patience`.
  Result<scheduler::ClusterStatus> look(std::chrono::nanoseconds patience);

 private:
  explicit HeadLook(const std::string& address) : address_(address) {}

  const std::string address_;
  SystemClock clock_;
  std::unique_ptr<NetworkEndpoint> net_;
};

}  // namespace forebay
