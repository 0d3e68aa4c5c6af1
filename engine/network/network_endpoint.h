#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/node/node.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// Maps each address to the peer that is connected there now.
class PeerRegistry final : public ActorOf<PeerRegistry, PeerUp, PeerDown> {
 public:
  /// Written by the actor, readable by any thread; outlives the actor.
  struct Table {
    Synchronized<> serial;
    std::map<std::string, PeerId> by_address = {};  // guarded by serial

    PeerId peer(const std::string& address) const;
  };

  explicit PeerRegistry(Table& table) : table_(table) {}
  Status on(const PeerUp& up, Context&);
  Status on(const PeerDown& down, Context&);

 private:
  Table& table_;
};

/// A process's endpoint in a cluster's network: transport, actors and the registry of peers.
///
/// Owns all three and ends them in order: the transport, then the actors. Any thread.
class NetworkEndpoint {
 public:
  struct Options {
    std::string keys;  ///< A folder; "": no keys, which is allowed on loopback only.
    std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
    /// Missed heartbeats after which a peer is lost.
    int lost_after = ZmqTransport::Options().lost_after;
    MemoryBudget* received = nullptr;
    std::size_t threads = 1;  ///< For the actors of this process that share threads.
    std::function<void(const std::string&)> say;
  };

  /// Reads the keys. Opens no socket yet.
  static Result<std::unique_ptr<NetworkEndpoint>> make(const Options& options, const Clock& clock);
  ~NetworkEndpoint();

  /// `address`: "tcp://H:P" or "H:P". Returns the address that it really listens on, as "H:P".
  Result<std::string> listen(const std::string& address);
  /// Connects to this address and keeps the session up from now on.
  Status connect(const std::string& address);
  /// Ends the session with an address and stops reconnecting.
  void disconnect(const std::string& address);
  /// Returns whether there is a session with this "H:P" now.
  bool reaches(const std::string& address) const { return table_.peer(address) != PeerId::kNone; }

  /// Returns the actor `name` at `address`, or an empty ref while there is no session.
  template <class Ref>
  Ref actor(const std::string& address, std::string_view name) {
    const PeerId peer = table_.peer(address);
    return peer == PeerId::kNone ? Ref() : node_->actor<Ref>(peer, name);
  }

  /// Why an address that this endpoint connects to is not reached, as far as the peer or the
  /// connection told: " (…)", to be added to a message; "": nothing is known.
  std::string trouble() const;

  ActorSystem& actors() { return *actors_; }
  Node& node() { return *node_; }

  /// Ends the network: no message arrives or leaves any more.
  void stop();
  /// Ends the network, then every actor after its current message. Actors may use the endpoint
  /// until they have ended, so whoever has it in a pointer that they read calls this before
  /// resetting it.
  void end();

 private:
  NetworkEndpoint() = default;

  bool has_keys_ = false;
  mutable Synchronized<std::string> trouble_;  // the newest sentence of the transport
  PeerRegistry::Table table_;
  std::unique_ptr<ZmqTransport> transport_;
  std::unique_ptr<ActorSystem> actors_;
  std::unique_ptr<Node> node_;
};

/// Number of descriptors that peers' connections never use: half of `limit`, and at most this many.
/// Data files, the store and checkpoints are opened after the first peers have joined and need
/// them.
inline constexpr std::size_t kMostKeptDescriptors = 256;
std::size_t kept_descriptors(std::size_t limit);

/// Mailbox size for messages from other processes' actors. Leases bound the real size.
inline constexpr std::size_t kNetMailbox = std::size_t{1} << 40;

/// "H:P" of "tcp://H:P"; an address without a scheme is returned unchanged.
std::string without_scheme(const std::string& address);

}  // namespace forebay
