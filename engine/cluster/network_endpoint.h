#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/data/memory_budget.h"
#include "core/net/zmq_transport.h"
#include "core/node/node.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_system.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// The peer at one address, as long as there is one.
class PeerRegistry final : public ActorOf<PeerRegistry, PeerUp, PeerDown> {
 public:
  /// What the actor writes and anyone may read; outlives it.
  struct Table {
    Synchronized<> serial;
    std::map<std::string, PeerId> by_address = {};  // under serial

    PeerId peer(const std::string& address) const;
  };

  explicit PeerRegistry(Table& table) : table_(table) {}
  Status on(const PeerUp& up, Context&);
  Status on(const PeerDown& down, Context&);

 private:
  Table& table_;
};

/// A process's end of a cluster's network: transport, actors, and who is there.
///
/// Owns all three and ends them in order: the transport, then the actors. Any thread.
class NetworkEndpoint {
 public:
  struct Options {
    std::string keys;  ///< A folder; "": none, which only does on loopback.
    std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
    MemoryBudget* received = nullptr;
    std::function<void(const std::string&)> say;
  };

  /// Reads the keys. Opens nothing yet.
  static Result<std::unique_ptr<NetworkEndpoint>> make(const Options& options, const Clock& clock);
  ~NetworkEndpoint();
  NetworkEndpoint(const NetworkEndpoint&) = delete;
  NetworkEndpoint& operator=(const NetworkEndpoint&) = delete;

  /// "tcp://H:P" or "H:P"; where it really listens, as "H:P".
  Result<std::string> listen(const std::string& address);
  /// Keeps a session with this address from now on.
  Status connect(const std::string& address);
  /// Gives up an address.
  void disconnect(const std::string& address);
  /// Whether a session with this "H:P" stands.
  bool reaches(const std::string& address) const { return table_.peer(address) != PeerId::kNone; }

  /// The actor called `name` at `address`; a ref that names nobody while there is no session.
  template <class Ref>
  Ref actor(const std::string& address, std::string_view name) {
    const PeerId peer = table_.peer(address);
    return peer == PeerId::kNone ? Ref() : node_->actor<Ref>(peer, name);
  }

  ActorSystem& actors() { return *actors_; }
  Node& node() { return *node_; }

  /// Ends the network: nothing comes or goes any more.
  void stop();

 private:
  NetworkEndpoint() = default;

  bool has_keys_ = false;
  PeerRegistry::Table table_;
  std::unique_ptr<ZmqTransport> transport_;
  std::unique_ptr<ActorSystem> actors_;
  std::unique_ptr<Node> node_;
};

/// Descriptors that connections of peers never take, however many there may be: half of them, since
/// data files, the store and checkpoints are opened after the first peers have joined; and no more
/// than this.
inline constexpr std::size_t kMostKeptDescriptors = 256;
std::size_t kept_descriptors(std::size_t limit);

/// Room for what other processes' actors tell an actor here: what bounds it is the leases.
inline constexpr std::size_t kNetMailbox = std::size_t{1} << 40;

/// "H:P" of "tcp://H:P"; what has no scheme stays.
std::string without_scheme(const std::string& address);

}  // namespace forebay
