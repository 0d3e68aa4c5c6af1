#include <algorithm>
#include <utility>

#include "core/node/node_link.h"
#include "core/node/remote_actor.h"

namespace forebay {
namespace {

/// Resolves the actor names of an incoming message; exports no actors.
class InboundContext final : public WireContext {
 public:
  explicit InboundContext(NodeLink& link) : link_(link) {}

  std::string export_actor(const std::shared_ptr<void>&) override { return {}; }
  Result<std::shared_ptr<void>> import_actor(std::string_view name) override {
    Result<ReceiverPtr> actor = link_.actor_named(name);
    if (!actor) return pass(actor);
    return std::static_pointer_cast<void>(*actor);
  }

 private:
  NodeLink& link_;
};

}  // namespace

void NodeLink::take(std::span<const std::byte> bytes, Frames&& body) {
  HeadReader head(bytes);
  switch (static_cast<NodeMessage>(head.kind())) {
    case NodeMessage::kTell:
      return take_message(head, false, body);
    case NodeMessage::kAsk:
      return take_message(head, true, body);
    case NodeMessage::kAnswer:
      return take_answer(head, body);
    case NodeMessage::kWatch:
      return take_watch(head);
    case NodeMessage::kDown:
      return take_down(head);
    case NodeMessage::kStop:
      return take_stop(head);
  }
  count(&NodeCounts::undecodable);
}

const NodeLink::Target& NodeLink::find(std::uint64_t target, std::uint64_t type) {
  const std::uint64_t publications = node_.publications();
  if (latest_.type == nullptr || latest_target_ != target || latest_.type->wire->number != type ||
      latest_publications_ != publications) {
    latest_ = look_up(target, type);
    latest_target_ = target;
    latest_publications_ = publications;
  }
  return latest_;
}

NodeLink::Target NodeLink::look_up(std::uint64_t target, std::uint64_t type) const {
  const auto takes = [type](const MessageType* one) {
    return one->wire != nullptr && one->wire->number == type;
  };
  if ((target & kPublishedBit) != 0) {
    const AnyActor actor = node_.published(target);
    const auto found = std::ranges::find_if(actor.types, takes);
    return {actor.receiver, found == actor.types.end() ? nullptr : *found};
  }
  const std::lock_guard lock(mutex_);
  const auto exported = exported_.find(target);
  if (exported == exported_.end()) return {};
  const auto& types = exported->second.types;
  const auto found = std::ranges::find_if(types, takes);
  return {exported->second.receiver, found == types.end() ? nullptr : *found};
}

ReceiverPtr NodeLink::receiver_of(std::uint64_t target) const {
  if ((target & kPublishedBit) != 0) return node_.published(target).receiver;
  const std::lock_guard lock(mutex_);
  const auto found = exported_.find(target);
  return found == exported_.end() ? nullptr : found->second.receiver;
}

void NodeLink::refuse(std::unique_ptr<AnswerSink> sink, const Error& error) {
  if (sink == nullptr) return;
  sink->send([&error](WireBuffer& out, WireContext&) {
    encode_value(Status(tl::unexpected<Error>(error)), out);
  });
}

void NodeLink::take_message(HeadReader& head, bool asked, Frames& body) {
  std::uint64_t number = 0;
  std::uint64_t type = 0;
  std::uint64_t question = 0;
  if (!head.number(number) || !head.number(type) || (asked && !head.number(question))) {
    return count(&NodeCounts::undecodable);
  }
  std::unique_ptr<AnswerSink> sink;
  if (asked) sink = std::make_unique<RemoteAsker>(shared_from_this(), question);
  const Target& target = find(number, type);
  if (target.receiver == nullptr) {
    count(&NodeCounts::unknown_actor);
    return refuse(std::move(sink), {Code::kNotFound, "the peer has no actor of that name"});
  }
  if (target.type == nullptr) {
    count(&NodeCounts::unknown_message);
    return refuse(std::move(sink),
                  {Code::kInvalid, "the peer's actor does not take this message, or not any more"});
  }
  InboundContext context(*this);
  Result<EnvelopePtr> envelope = target.type->wire->decode({head.rest(), body, context}, sink);
  if (!envelope) {
    count(&NodeCounts::undecodable);
    return refuse(std::move(sink), envelope.error());
  }
  if (Status pushed = target.receiver->push(*envelope, MailboxCredit::kRequired); !pushed) {
    count(&NodeCounts::refused);
    (*envelope)->type->refuse(**envelope, pushed.error());
  }
}

void NodeLink::take_answer(HeadReader& head, Frames& body) {
  std::uint64_t question = 0;
  if (!head.number(question)) return count(&NodeCounts::undecodable);
  const EnvelopePtr envelope = take_question(question);
  if (envelope == nullptr) return;  // The question was answered before, or was never asked.
  InboundContext context(*this);
  envelope->type->wire->answer(*envelope, {head.rest(), body, context});
}

void NodeLink::take_watch(HeadReader& head) {
  std::uint64_t target = 0;
  if (!head.number(target)) return count(&NodeCounts::undecodable);
  const ReceiverPtr receiver = receiver_of(target);
  if (receiver == nullptr) {
    count(&NodeCounts::unknown_actor);
    return send_down(target, Error{Code::kNotFound, "the peer has no actor of that name"});
  }
  bool room = false;
  {
    const std::lock_guard lock(mutex_);
    room = num_watched_ < node_.options().max_watches;
    if (room) ++num_watched_;
  }
  if (!room) return node_.transport().close(peer_, "it watches too many actors");
  receiver->watch(std::make_shared<DownForwarder>(node_.host(), shared_from_this(), target));
}

void NodeLink::take_down(HeadReader& head) {
  std::uint64_t target = 0;
  if (!head.number(target)) return count(&NodeCounts::undecodable);
  auto crash = decode_value<std::optional<Error>>("node.down", head.rest());
  if (!crash) return count(&NodeCounts::undecodable);
  std::vector<Watcher> watchers;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = watchers_.extract(target)) watchers = std::move(found.mapped());
  }
  for (const Watcher& watcher : watchers) {
    EnvelopePtr envelope = seal(Down{.actor = watcher.shown, .crash = *crash}, watcher.shown);
    static_cast<void>(watcher.receiver->push(envelope, MailboxCredit::kExempt));
  }
}

void NodeLink::take_stop(HeadReader& head) {
  std::uint64_t target = 0;
  if (!head.number(target)) return count(&NodeCounts::undecodable);
  // A peer must not stop a published actor.
  const ReceiverPtr receiver = (target & kPublishedBit) != 0 ? nullptr : receiver_of(target);
  if (receiver == nullptr) return count(&NodeCounts::unknown_actor);
  receiver->stop_behind_queue();
}

}  // namespace forebay
