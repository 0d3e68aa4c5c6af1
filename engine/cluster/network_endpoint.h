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
#include "scheduler/worker/worker_actor.h"

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
    MemoryBudget* received = nullptr;
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

  ActorSystem& actors() { return *actors_; }
  Node& node() { return *node_; }

  /// Ends the network: no message arrives or leaves any more.
  void stop();

 private:
  NetworkEndpoint() = default;

  bool has_keys_ = false;
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

/// Location of the head: a fixed address, or a file that holds the address. The file is read again
/// while no head answers, so that a head that restarts at another address is found.
///
/// `net` outlives it. Any thread.
class HeadLocation {
 public:
  /// `given`: "H:P", "tcp://H:P" or a file whose first line is one of them.
  HeadLocation(std::string given, NetworkEndpoint& net, std::function<void(const std::string&)> say)
      : given_(std::move(given)), net_(net), say_(std::move(say)) {}

  /// Keeps a session with the head from now on. kInvalid: the address can never work. If the file
  /// does not exist yet, the location waits for it.
  Status open();

  /// Reads the file again if the address that it gave cannot be reached. To be called periodically.
  void look();

  /// "H:P"; empty until the file holds an address.
  std::string address() const;

  /// Returns the head's actor `name`, or an empty ref while there is no session.
  template <class Ref>
  Ref actor(std::string_view name) const {
    return net_.actor<Ref>(address(), name);
  }

 private:
  Status read();
  Status move_to(const std::string& address);

  const std::string given_;
  NetworkEndpoint& net_;
  const std::function<void(const std::string&)> say_;
  std::string trouble_;  // belongs to the caller of look()
  const Synchronized<> serial_{};
  std::string address_;  // guarded by serial_
};

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
