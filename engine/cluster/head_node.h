#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/store/rocks_store.h"
#include "engine/cluster/network_endpoint.h"
#include "scheduler/head/head_actor.h"

namespace forebay {

/// A head in a process of its own. It outlives trainers and workers and keeps its state in a store.
///
/// Owns the store, the network and the actor.
class HeadNode {
 public:
  struct Options {
    std::string listen;
    std::string store;  ///< A folder; created if it does not exist.
    std::string keys;
    std::chrono::nanoseconds lease = std::chrono::seconds(5);
    std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
    std::function<void(const std::string&)> say;
  };

  static Result<std::unique_ptr<HeadNode>> open(const Options& options);
  ~HeadNode();

  /// The address it listens on, as "H:P".
  const std::string& address() const { return address_; }

  /// Returns the current cluster status. Any thread.
  Result<scheduler::ClusterStatus> status() const;

  /// Blocks until `stopped` returns true.
  void run(const std::function<bool()>& stopped) const;

 private:
  HeadNode() = default;

  SystemClock clock_;
  std::unique_ptr<RocksStore> store_;
  std::unique_ptr<NetworkEndpoint> net_;
  std::string address_;
  ActorRef<scheduler::QueryCluster> head_;
};

}  // namespace forebay
