#pragma once

#include <memory>
#include <utility>

#include "core/node/node_link.h"

namespace forebay {

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

/// Sends one answer to the peer that asked.
class RemoteAsker final : public AnswerSink {
 public:
  RemoteAsker(std::shared_ptr<NodeLink> link, std::uint64_t question)
      : link_(std::move(link)), question_(question) {}

  void send(const std::function<void(WireBuffer&, WireContext&)>& write) override {
    link_->answer(question_, write);
  }

 private:
  const std::shared_ptr<NodeLink> link_;
  const std::uint64_t question_;
};

}  // namespace forebay
