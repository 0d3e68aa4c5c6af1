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
#include "core/runtime/synchronized.h"

namespace forebay {

class NodeLink;

/// Node → subscriber: a session with a peer began.
struct PeerUp {
  static constexpr std::string_view kTag = "node.peer_up/1";
  PeerId peer = PeerId::kNone;
  PeerInfo info;
};

/// Node → subscriber: the session is over, and every ref through it is dead. A peer that reconnects
/// gets another PeerId.
struct PeerDown {
  static constexpr std::string_view kTag = "node.peer_down/1";
  PeerId peer = PeerId::kNone;
  Error reason;
};

using PeerWatcherRef = ActorRef<PeerUp, PeerDown>;

/// Messages and answers that were dropped since the node was created.
struct NodeCounts {
  std::uint64_t unknown_actor = 0;    ///< For an actor not here, or never exported.
  std::uint64_t unknown_message = 0;  ///< Of a type that the ref did not list.
  std::uint64_t undecodable = 0;      ///< Bytes that do not decode.
  std::uint64_t refused = 0;          ///< Refused by a mailbox: full, or its actor dead.
  std::uint64_t unsent_answers = 0;   ///< Answers that the transport refused.
};

/// Lets the actors of one host and those of its peers reach each other with the same refs.
///
/// Sends `tell` and `ask` through a ref to a peer's actor as transport messages. A ref inside a
/// message arrives as a ref to the same actor; an actor exported that way is kept until the session
/// ends. When the session ends, every open question is answered kUnavailable and every watched
/// actor is reported Down. A refused ask is answered with the error; a refused tell is only
/// counted. An actor that a message wakes may run on the transport's thread. Owns nothing but
/// tables. Thread-safe. Stop the transport and empty the host before destroying the node, and
/// destroy the node before the host's executor.
class Node final : public TransportHandler {
 public:
  struct Options {
    /// Unanswered questions to a peer; further ones are refused with kOverloaded.
    std::size_t max_questions = 65'536;
    /// Actors exported to a peer; a message with more is refused.
    std::size_t max_exports = 65'536;
    std::size_t max_watches = 65'536;  ///< Watches of one peer on actors here.
  };

  Node(ActorHost& host, Transport& transport, const Options& options);
  Node(ActorHost& host, Transport& transport) : Node(host, transport, Options{}) {}
  ~Node() override;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Starts the transport with this node as its handler; call it once.
  void start() { transport_.start(*this); }

  /// Lets every peer reach `actor` by `name`; replaces the actor that had the name before. Accepts
  /// only messages that can be sent to another process and that the ref lists.
  void publish(const std::string& name, const AnyActor& actor);

  /// A ref to a peer's published actor. Usable at once; the first message fails if there is none.
  template <class Ref>
  Ref actor(PeerId peer, std::string_view name) {
    return Ref(remote(peer, name));
  }

  /// Sends `watcher` a PeerUp for each present and future peer, and a PeerDown when a session ends.
  void subscribe(const PeerWatcherRef& watcher);

  NodeCounts counts() const {
    return counts_.change([](const NodeCounts& counts) { return counts; });
  }
  ActorHost& host() const { return host_; }
  Transport& transport() const { return transport_; }
  const Options& options() const { return options_; }

  /// For links. Returns the actor published as `target`, or an empty one.
  AnyActor published(std::uint64_t target) const;
  /// Returns a number that changes with every publication.
  std::uint64_t publications() const { return publications_.load(std::memory_order_acquire); }
  /// Counts one more of what `what` names, such as a dropped message.
  void count(std::uint64_t NodeCounts::*what) {
    counts_.change([what](NodeCounts& counts) { ++(counts.*what); });
  }

  void on_peer_up(PeerId peer, const PeerInfo& info) override;
  void on_peer_down(PeerId peer, const Error& reason) override;
  void on_message(PeerId peer, std::span<const std::byte> head, Frames body) override;
  void on_messages(const std::function<void()>& deliver) override;
  bool has_work() const override { return guest_ != nullptr && guest_->has_work(); }
  std::chrono::nanoseconds do_work(bool may_take_long) override;

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
  const std::unique_ptr<ExecutorGuest> guest_;  // null: the executor has none
  mutable Synchronized<NodeCounts> counts_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Published> published_;  // by target; under mutex_, as all below
  std::map<PeerId, LinkPtr> links_;
  std::map<PeerId, PeerInfo> infos_;
  std::vector<PeerWatcherRef> watchers_;
  std::atomic<std::uint64_t> publications_{0};  // number of changes of published_
  PeerId latest_peer_ = PeerId::kNone;  // the sender of the latest message; used by the transport's
                                        // thread only, as is latest_link_
  LinkPtr latest_link_;
};

}  // namespace forebay
