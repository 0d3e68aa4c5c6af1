#include "core/node/node.h"

#include <utility>

#include "core/node/node_link.h"

namespace forebay {

Node::Node(ActorHost& host, Transport& transport, const Options& options)
    : host_(host), transport_(transport), options_(options), guest_(host.executor().guest()) {}

Node::~Node() {
  for (const auto& [peer, link] : links_) link->end({Code::kUnavailable, "this node has ended"});
}

void Node::publish(const std::string& name, const AnyActor& actor) {
  const std::lock_guard lock(mutex_);
  published_[published_target(name)] = {name, actor};
  ++publications_;
}

AnyActor Node::published(std::uint64_t target) const {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find(target);
  return found == published_.end() ? AnyActor() : found->second.actor;
}

Node::LinkPtr Node::link_to(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(peer);
  return found == links_.end() ? nullptr : found->second;
}

ReceiverPtr Node::remote(PeerId peer, std::string_view name) {
  LinkPtr link = link_to(peer);
  if (link == nullptr) {
    link = std::make_shared<NodeLink>(*this, peer);
    link->end({Code::kUnavailable, "the session with the peer is over"});
  }
  return link->remote(published_target(name));
}

void Node::subscribe(const PeerWatcherRef& watcher) {
  const std::lock_guard lock(mutex_);
  watchers_.push_back(watcher);
  for (const auto& [peer, info] : infos_) {
    deliver(*watcher.receiver(), PeerUp{peer, info});
  }
}

void Node::on_peer_up(PeerId peer, const PeerInfo& info) {
  const std::lock_guard lock(mutex_);
  links_.emplace(peer, std::make_shared<NodeLink>(*this, peer));
  infos_.emplace(peer, info);
  for (const PeerWatcherRef& watcher : watchers_) {
    deliver(*watcher.receiver(), PeerUp{peer, info});
  }
}

void Node::on_peer_down(PeerId peer, const Error& reason) {
  const LinkPtr link = link_to(peer);
  if (link == nullptr) return;
  latest_peer_ = PeerId::kNone;
  latest_link_ = nullptr;
  link->end(reason);  // First, so that a watcher that gets PeerDown finds the peer's refs dead.
  const std::lock_guard lock(mutex_);
  links_.erase(peer);
  infos_.erase(peer);
  for (const PeerWatcherRef& watcher : watchers_) {
    deliver(*watcher.receiver(), PeerDown{peer, reason});
  }
}

void Node::on_message(PeerId peer, std::span<const std::byte> head, Frames body) {
  if (peer != latest_peer_) {
    latest_link_ = link_to(peer);
    latest_peer_ = peer;
  }
  if (latest_link_ != nullptr) latest_link_->take(head, std::move(body));
}

void Node::on_messages(const std::function<void()>& deliver) {
  // An actor that a message wakes runs on this thread, if briefly, which saves waking another one.
  guest_ == nullptr ? deliver() : guest_->keep(deliver);
}

std::chrono::nanoseconds Node::do_work(bool may_take_long) {
  if (may_take_long) return guest_->run();
  guest_->pass_on();
  return {};
}

}  // namespace forebay
