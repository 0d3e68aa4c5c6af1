#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/transport.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"

namespace forebay {

class NodeLink;

/// Node → subscriber: a session with a peer began.
struct PeerUp {
  static constexpr std::string_view kTag = "node.peer_up/1";
  PeerId peer = PeerId::kNone;
  PeerInfo info;
};

/// Node → subscriber: it is over, and every ref through it dead. A peer that comes back is another.
struct PeerDown {
  static constexpr std::string_view kTag = "node.peer_down/1";
  PeerId peer = PeerId::kNone;
  Error reason;
};

using PeerWatcherRef = ActorRef<PeerUp, PeerDown>;

/// What came from peers and went nowhere, since the node began.
struct NodeCounts {
  std::uint64_t unknown_actor = 0;    ///< For an actor that is not here or was never let out.
  std::uint64_t unknown_message = 0;  ///< Of a type that the ref did not list.
  std::uint64_t undecodable = 0;      ///< Bytes that are no such message.
  std::uint64_t refused = 0;          ///< By a mailbox: full, or its actor dead.
  std::uint64_t unsent_answers = 0;   ///< Answers the transport refused.

  NodeCounts& operator+=(const NodeCounts& other);
};

/// Lets the actors of one host and those of its peers reach each other by the same refs.
///
/// `tell` and `ask` through a ref to a peer's actor go as messages of the transport; a ref inside a
/// message arrives as a ref to that actor. Those let out so are kept until the session ends. With
/// the session every question is answered kUnavailable and every watched actor reported Down. Who
/// asks is told what was refused; a tell that was is counted. Owns nothing but tables; any thread.
/// The transport is stopped, and the host empty, before it dies.
class Node final : public TransportHandler {
 public:
  struct Options {
    std::size_t max_questions = 65'536;  ///< Unanswered, a peer; more are refused with kOverloaded.
    std::size_t max_exports = 65'536;  ///< Refs let out to a peer; a message with more is refused.
    std::size_t max_watches = 65'536;  ///< That a peer has on actors here.
  };

  Node(ActorHost& host, Transport& transport, const Options& options);
  Node(ActorHost& host, Transport& transport) : Node(host, transport, Options{}) {}
  ~Node() override;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Begins to listen to the transport; once.
  void start() { transport_.start(*this); }

  /// Lets every peer reach an actor by name, in the place of one that had it before. Only messages
  /// that can travel and that the ref lists are taken.
  void publish(const std::string& name, const AnyActor& actor);
  void withdraw(const std::string& name);

  /// A peer's published actor. Usable at once: what it is not, the first message shows.
  template <class Ref>
  Ref actor(PeerId peer, std::string_view name) {
    return Ref(remote(peer, name));
  }

  /// Tells `watcher` of every peer there is, and of each that comes and goes.
  void subscribe(const PeerWatcherRef& watcher);

  NodeCounts counts() const;
  ActorHost& host() const { return host_; }
  Transport& transport() const { return transport_; }
  const Options& options() const { return options_; }

  /// For its links: whoever is published so, or nobody; and how often that may have changed.
  AnyActor published(std::uint64_t target) const;
  std::uint64_t publications() const { return publications_.load(std::memory_order_acquire); }

  void on_peer_up(PeerId peer, const PeerInfo& info) override;
  void on_peer_down(PeerId peer, const Error& reason) override;
  void on_message(PeerId peer, std::span<const std::byte> head, Frames body) override;
  void on_messages(const std::function<void()>& deliver) override;

 private:
  struct Published {
    std::string name;
    AnyActor actor;
  };
  using LinkPtr = std::shared_ptr<NodeLink>;

  ReceiverPtr remote(PeerId peer, std::string_view name);
  LinkPtr link_to(PeerId peer) const;

  ActorHost& host_;
  Transport& transport_;
  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Published> published_;  // by target; under mutex_, as all below
  std::map<PeerId, LinkPtr> links_;
  std::map<PeerId, PeerInfo> infos_;
  std::vector<PeerWatcherRef> watchers_;
  NodeCounts ended_counts_;                     // of sessions that are over
  std::atomic<std::uint64_t> publications_{0};  // changes of published_
  PeerId latest_peer_ = PeerId::kNone;  // whose message came last; the transport's thread, as below
  LinkPtr latest_link_;
};

}  // namespace forebay
