#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/node/node.h"
#include "core/node/node_message.h"

namespace forebay {

/// One session of a node: the actors exported to the peer, the questions waiting for its answers,
/// and the watchers of its actors. Thread-safe; end() takes effect once and for good.
class NodeLink final : public std::enable_shared_from_this<NodeLink> {
 public:
  NodeLink(Node& node, PeerId peer) : node_(node), peer_(peer) {}

  /// The receiver that represents the peer's actor `target` here; the same object while it is in
  /// use.
  ReceiverPtr remote(std::uint64_t target);

  /// For RemoteActor: the three methods below.
  Status send(std::uint64_t target, EnvelopePtr& envelope);
  void watch(std::uint64_t target, const ReceiverPtr& watcher, ActorId shown);
  void stop(std::uint64_t target);

  void take(std::span<const std::byte> head, Frames&& body);
  void end(const Error& reason);

  /// Sends the answer to the peer's question.
  void answer(std::uint64_t question, const std::function<void(WireBuffer&, WireContext&)>& write);
  void send_down(std::uint64_t target, const std::optional<Error>& crash);
  /// Records that one of the peer's watches has ended.
  void watch_is_over();

  NodeCounts counts() const;

  /// The two below convert actors inside messages to names and back.
  Result<std::string> name_of(const AnyActor& actor);
  Result<ReceiverPtr> actor_named(std::string_view name);

 private:
  struct Exported {
    ReceiverPtr receiver;
    std::vector<const MessageType*> types;
  };
  struct Watcher {
    ReceiverPtr receiver;
    ActorId shown;
  };
  struct Target {
    ReceiverPtr receiver;
    const MessageType* type = nullptr;  // null: the actor does not accept this type
  };

  Status transmit(WireBuffer& buffer);
  const Target& find(std::uint64_t target, std::uint64_t type);
  Target look_up(std::uint64_t target, std::uint64_t type) const;
  ReceiverPtr receiver_of(std::uint64_t target) const;
  void take_message(HeadReader& head, bool asked, Frames& body);
  void take_answer(HeadReader& head, Frames& body);
  void take_watch(HeadReader& head);
  void take_down(HeadReader& head);
  void take_stop(HeadReader& head);
  void refuse(std::unique_ptr<AnswerSink> sink, const Error& error);
  Status keep_question(std::uint64_t number, EnvelopePtr& envelope);
  EnvelopePtr take_question(std::uint64_t number);
  void count(std::uint64_t NodeCounts::*what);

  Node& node_;
  const PeerId peer_;
  std::atomic<std::uint64_t> num_questions_{0};
  std::atomic<bool> has_ended_{false};  // true once ended_ is set
  mutable std::mutex mutex_;
  std::optional<Error> ended_;  // under mutex_, as all below
  std::unordered_map<std::uint64_t, Exported> exported_;
  std::unordered_map<std::uint64_t, EnvelopePtr> questions_;
  std::unordered_map<std::uint64_t, std::vector<Watcher>> watchers_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Receiver>> remotes_;
  std::size_t remotes_to_sweep_at_ = 1024;
  std::size_t num_watched_ = 0;  // watches of the peer
  NodeCounts counts_;

  Target latest_;  // of the latest message; used by the transport's thread only, as are those below
  std::uint64_t latest_target_ = 0;
  std::uint64_t latest_publications_ = 0;
};

}  // namespace forebay
