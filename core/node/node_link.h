#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/node/link_tables.h"
#include "core/node/node.h"
#include "core/node/node_message.h"

namespace forebay {

/// One session of a node: encodes and sends what its actors tell those of the peer, and delivers
/// what the peer sends. Thread-safe; end() takes effect once and for good.
class NodeLink final : public std::enable_shared_from_this<NodeLink> {
 public:
  NodeLink(Node& node, PeerId peer)
      : node_(node),
        peer_(peer),
        sender_(node.transport().sender(peer)),
        waiting_work_(node.transport().waiting_work()) {}

  /// The receiver that represents the peer's actor `target` here; the same object while it is in
  /// use.
  ReceiverPtr remote(std::uint64_t target);

  /// For RemoteActor: the three methods below.
  Status send(std::uint64_t target, EnvelopePtr& envelope);
  void watch(std::uint64_t target, const ReceiverPtr& watcher, ActorId shown);
  void stop(std::uint64_t target);

  /// For threads that wait for the peer's answers; valid even after the node's end.
  const std::shared_ptr<WaitingWork>& waiting_work() const { return waiting_work_; }

  void take(std::span<const std::byte> head, Frames&& body);
  void end(const Error& reason);

  /// Sends the answer to the peer's question.
  void answer(std::uint64_t question, const WireWriter& write);
  void send_down(std::uint64_t target, const std::optional<Error>& crash);
  /// Records that one of the peer's watches has ended.
  void watch_is_over() { tables_.end_watch(); }

  /// The two below convert actors inside messages to names and back.
  Result<std::string> name_of(const AnyActor& actor);
  /// The message that named this actor was not sent.
  void take_back(const AnyActor& actor) {
    tables_.take_back(static_cast<std::uint64_t>(actor.receiver->id()));
  }
  Result<ReceiverPtr> actor_named(std::string_view name);

 private:
  Status transmit(WireBuffer& buffer);
  const LinkTarget& find(std::uint64_t target, std::uint64_t type);
  LinkTarget look_up(std::uint64_t target, std::uint64_t type = 0) const;
  void take_message(const NodeHead& head, Frames& body);
  void take_answer(const NodeHead& head, Frames& body);
  void take_watch(std::uint64_t target);
  void take_down(const NodeHead& head);
  void take_stop(std::uint64_t target);
  static void refuse(const AnswerSink& sink, const Error& error);

  Node& node_;
  const PeerId peer_;
  const std::shared_ptr<SessionSender> sender_;
  const std::shared_ptr<WaitingWork> waiting_work_;
  std::atomic<std::uint64_t> num_questions_{0};
  LinkTables tables_{node_.options()};
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Receiver>>
      remotes_;  // under mutex_, as those below
  std::size_t remotes_to_sweep_at_ = 1024;

  LinkTarget
      latest_;  // of the latest message; used by the transport's thread only, as are those below
  std::uint64_t latest_target_ = 0;
  std::uint64_t latest_publications_ = 0;
};

/// Represents an actor of a peer. Permanently dead when the session is over.
class RemoteActor final : public Receiver {
 public:
  RemoteActor(ActorHost& host, std::shared_ptr<NodeLink> link, std::uint64_t target)
      : Receiver(host, host.next_id()), link_(std::move(link)), target_(target) {}

  Status push(EnvelopePtr& envelope, MailboxCredit) override {
    return link_->send(target_, envelope);
  }
  void watch(ReceiverPtr watcher) override { link_->watch(target_, watcher, id()); }
  void stop_behind_queue() override { link_->stop(target_); }
  std::shared_ptr<WaitingWork> waiting_work() const override { return link_->waiting_work(); }

  const std::shared_ptr<NodeLink>& link() const { return link_; }
  std::uint64_t target() const { return target_; }

 private:
  const std::shared_ptr<NodeLink> link_;
  const std::uint64_t target_;
};

/// Watches an actor here on behalf of a peer and forwards its Down.
class DownForwarder final : public Receiver {
 public:
  DownForwarder(ActorHost& host, std::weak_ptr<NodeLink> link, std::uint64_t target)
      : Receiver(host, ActorId::kNobody), link_(std::move(link)), target_(target) {}

  Status push(EnvelopePtr& envelope, MailboxCredit) override {
    const std::shared_ptr<NodeLink> link = link_.lock();
    if (link != nullptr && envelope->type == kTypeOf<Down>) {
      link->send_down(target_, static_cast<EnvelopeOf<Down>&>(*envelope).message.crash);
      link->watch_is_over();
    }
    envelope.reset();
    return {};
  }
  void watch(ReceiverPtr) override {}
  void stop_behind_queue() override {}

 private:
  const std::weak_ptr<NodeLink> link_;  // The watched actor may live much longer.
  const std::uint64_t target_;
};

}  // namespace forebay
