#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/store/rocks_store.h"
#include "core/store/store.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/cluster/head_location.h"
#include "scheduler/cluster_status.h"
#include "scheduler/head/head_actor.h"

namespace forebay {

/// Names under which a head answers QueryCluster and a trainer's process answers its workers'
/// tuners.
inline constexpr std::string_view kStatusName = "status";
inline constexpr std::string_view kTunersName = "tuners";

/// Starts a head with the state in `store`, and a directory of users' actors, and makes both
/// reachable for every peer. The head accepts workers with this program's version and operators.
/// `store` outlives the network's actors.
Result<scheduler::HeadActor::Ref> start_head(NetworkEndpoint& net, Store& store,
                                             scheduler::HeadOptions options);

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

  /// Returns what the head's directory has of users' actors; to be called after look().
  Result<ActorsStatus> actors(std::chrono::nanoseconds patience);

 private:
  explicit HeadLook(const std::string& address) : address_(address) {}

  const std::string address_;
  SystemClock clock_;
  std::unique_ptr<NetworkEndpoint> net_;
};

}  // namespace forebay
