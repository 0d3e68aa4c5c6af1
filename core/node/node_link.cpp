#include "core/node/node_link.h"

#include <algorithm>
#include <utility>

#include "core/base/text/number.h"

namespace forebay {
namespace {

/// Each thread reuses one buffer for the messages it sends; larger buffers are not kept.
constexpr std::size_t kMostKept = 1024 * 1024;

WireBuffer& buffer_of_thread() {
  thread_local WireBuffer buffer;
  if (buffer.size() > kMostKept) buffer = WireBuffer();
  buffer.clear();
  return buffer;
}

/// Releases the frames of a message that was not sent; otherwise their memory would stay in use
/// until the thread's next message.
struct FramesGo {
  WireBuffer& buffer;
  ~FramesGo() { buffer.frames.clear(); }
};

/// Names the actors in one message and resolves such names; keeps the error if an actor cannot be
/// named. The actors that it named stay exported only if the message is sent.
class LinkContext final : public WireContext {
 public:
  explicit LinkContext(NodeLink& link) : link_(link) {}
  ~LinkContext() override {
    for (const auto& actor : named_) link_.take_back(*actor);
  }
  LinkContext(const LinkContext&) = delete;
  LinkContext& operator=(const LinkContext&) = delete;

  std::string export_actor(const std::shared_ptr<void>& actor) override {
    auto typed = std::static_pointer_cast<AnyActor>(actor);
    Result<std::string> name = link_.name_of(*typed);
    if (name) {
      if (name->front() == 'm') named_.push_back(std::move(typed));
      return *name;
    }
    problem = name.error();
    return {};
  }
  /// The message was sent.
  void keep_names() { named_.clear(); }

  Result<std::shared_ptr<void>> import_actor(std::string_view name) override {
    Result<ReceiverPtr> actor = link_.actor_named(name);
    if (!actor) return pass(actor);
    return std::static_pointer_cast<void>(*actor);
  }

  std::optional<Error> problem;

 private:
  NodeLink& link_;
  std::vector<std::shared_ptr<AnyActor>> named_;
};

void tell_down(const std::vector<LinkTables::Watcher>& watchers,
               const std::optional<Error>& crash) {
  for (const LinkTables::Watcher& watcher : watchers) {
    deliver(*watcher.receiver, Down{watcher.shown, crash});
  }
}

}  // namespace

ReceiverPtr NodeLink::remote(std::uint64_t target) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Receiver>& known = remotes_[target];
  if (ReceiverPtr there = known.lock()) return there;
  auto made = std::make_shared<RemoteActor>(node_.host(), shared_from_this(), target);
  known = made;
  if (remotes_.size() >= remotes_to_sweep_at_) {
    std::erase_if(remotes_, [](const auto& entry) { return entry.second.expired(); });
    remotes_to_sweep_at_ = std::max<std::size_t>(1024, 2 * remotes_.size());
  }
  return made;
}

Status NodeLink::transmit(WireBuffer& buffer) {
  const Lane lane = buffer.frames.empty() ? Lane::kControl : Lane::kBulk;
  if (Status status = tables_.status(); !status) return status;
  return sender_->send(lane, buffer.bytes(), std::exchange(buffer.frames, {}));
}

Status NodeLink::send(std::uint64_t target, EnvelopePtr& envelope) {
  const WireCalls* wire = envelope->type->wire;
  if (wire == nullptr) {
    return fail(Code::kInvalid,
                "message " + std::string(envelope->type->tag) + " cannot leave its process");
  }
  WireBuffer& buffer = buffer_of_thread();
  const FramesGo frames_go{buffer};
  const bool asks = wire->asks(*envelope);
  const std::uint64_t question = asks ? ++num_questions_ : 0;
  if (asks) {
    write_head(buffer, NodeMessage::kAsk, target, wire->number, question);
  } else {
    write_head(buffer, NodeMessage::kTell, target, wire->number);
  }
  LinkContext context(*this);
  wire->encode(*envelope, buffer, context);
  if (context.problem) return tl::unexpected<Error>(*context.problem);
  if (!asks) {
    Status sent = transmit(buffer);
    if (!sent) return sent;
    context.keep_names();
    envelope.reset();
    return sent;
  }
  if (Status kept = tables_.keep_question(question, envelope); !kept) return kept;
  Status sent = transmit(buffer);
  if (sent) {
    context.keep_names();
    return sent;
  }
  envelope = tables_.take_question(question);
  // The session ended meanwhile, and the asker was answered.
  return envelope == nullptr ? Status() : sent;
}

void NodeLink::watch(std::uint64_t target, const ReceiverPtr& watcher, ActorId shown) {
  if (Status added = tables_.add_watcher(target, {watcher, shown}); !added) {
    return tell_down({{watcher, shown}}, added.error());
  }
  WireBuffer& buffer = write_head(buffer_of_thread(), NodeMessage::kWatch, target);
  // After kOverloaded the session is ended here; after another error it is over already. Its end
  // sends Down to the watcher.
  if (Status sent = transmit(buffer); !sent && sent.error().code == Code::kOverloaded) {
    node_.transport().close(peer_, "too much waits to be sent");
  }
}

void NodeLink::stop(std::uint64_t target) {
  // An unreachable actor cannot be stopped.
  static_cast<void>(transmit(write_head(buffer_of_thread(), NodeMessage::kStop, target)));
}

void NodeLink::answer(std::uint64_t question, const WireWriter& write) {
  WireBuffer& buffer = write_head(buffer_of_thread(), NodeMessage::kAnswer, question);
  LinkContext context(*this);
  write(buffer, context);
  if (context.problem) {
    buffer.clear();
    write_head(buffer, NodeMessage::kAnswer, question);
    encode_value(Status(tl::unexpected<Error>(*context.problem)), buffer, &context);
  }
  if (!transmit(buffer)) return node_.count(&NodeCounts::unsent_answers);
  if (!context.problem) context.keep_names();
}

void NodeLink::send_down(std::uint64_t target, const std::optional<Error>& crash) {
  WireBuffer& buffer = write_head(buffer_of_thread(), NodeMessage::kDown, target);
  encode_value(crash, buffer);
  static_cast<void>(transmit(buffer));  // An unreachable peer reports Down by itself.
}

Result<std::string> NodeLink::name_of(const AnyActor& actor) {
  // The actor lives at that peer, so use the name that the peer knows it by.
  const auto* there = dynamic_cast<const RemoteActor*>(actor.receiver.get());
  if (there != nullptr && there->link().get() == this) {
    return "y" + std::to_string(there->target());
  }
  if (Status exported = tables_.export_actor(actor); !exported) return pass(exported);
  return "m" + std::to_string(static_cast<std::uint64_t>(actor.receiver->id()));
}

Result<ReceiverPtr> NodeLink::actor_named(std::string_view name) {
  const bool marked = !name.empty() && (name[0] == 'm' || name[0] == 'y');
  const auto number = marked ? parse_number(name.substr(1)) : std::nullopt;
  if (!number) return fail(Code::kCorrupt, "is no actor's name");
  if (name[0] == 'm') return remote(*number);
  ReceiverPtr ours = look_up(*number).receiver;
  if (ours == nullptr) return fail(Code::kNotFound, "names an actor that was never exported");
  return ours;
}

void NodeLink::end(const Error& reason) {
  const Error error{Code::kUnavailable, reason.message};
  // An actor of another peer keeps that peer's link, which may keep this link in the same way.
  latest_ = {};
  const auto left = tables_.end(error);
  if (!left) return;
  for (const auto& [number, envelope] : left->questions) envelope->type->refuse(*envelope, error);
  for (const auto& [target, watchers] : left->watchers) tell_down(watchers, error);
}

// Messages of the peer.

void NodeLink::take(std::span<const std::byte> bytes, Frames&& body) {
  const auto head = NodeHead::read(bytes);
  if (!head) return node_.count(&NodeCounts::undecodable);
  switch (head->kind) {
    case NodeMessage::kTell:
    case NodeMessage::kAsk:
      return take_message(*head, body);
    case NodeMessage::kAnswer:
      return take_answer(*head, body);
    case NodeMessage::kWatch:
      return take_watch(head->numbers[0]);
    case NodeMessage::kDown:
      return take_down(*head);
    case NodeMessage::kStop:
      return take_stop(head->numbers[0]);
  }
}

const LinkTarget& NodeLink::find(std::uint64_t target, std::uint64_t type) {
  const std::uint64_t publications = node_.publications();
  if (latest_.type == nullptr || latest_target_ != target || latest_.type->wire->number != type ||
      latest_publications_ != publications) {
    latest_ = look_up(target, type);
    latest_target_ = target;
    latest_publications_ = publications;
  }
  return latest_;
}

LinkTarget NodeLink::look_up(std::uint64_t target, std::uint64_t type) const {
  if ((target & kPublishedBit) == 0) return tables_.exported(target, type);
  const AnyActor actor = node_.published(target);
  return {actor.receiver, type_of(actor.types, type)};
}

void NodeLink::refuse(const AnswerSink& sink, const Error& error) {
  if (!sink) return;
  sink([&error](WireBuffer& out, WireContext&) {
    encode_value(Status(tl::unexpected<Error>(error)), out);
  });
}

void NodeLink::take_message(const NodeHead& head, Frames& body) {
  AnswerSink sink;
  if (head.kind == NodeMessage::kAsk) {
    sink = [link = shared_from_this(), question = head.numbers[2]](const WireWriter& write) {
      link->answer(question, write);
    };
  }
  const LinkTarget& target = find(head.numbers[0], head.numbers[1]);
  if (target.receiver == nullptr) {
    node_.count(&NodeCounts::unknown_actor);
    return refuse(sink, {Code::kNotFound, "the peer has no actor of that name"});
  }
  if (target.type == nullptr) {
    node_.count(&NodeCounts::unknown_message);
    return refuse(sink,
                  {Code::kInvalid, "the peer's actor does not take this message, or not any more"});
  }
  LinkContext context(*this);
  Result<EnvelopePtr> envelope = target.type->wire->decode({head.rest, body, context}, sink);
  if (!envelope) {
    node_.count(&NodeCounts::undecodable);
    return refuse(sink, envelope.error());
  }
  if (Status pushed = target.receiver->push(*envelope, MailboxCredit::kRequired); !pushed) {
    node_.count(&NodeCounts::refused);
    (*envelope)->type->refuse(**envelope, pushed.error());
  }
}

void NodeLink::take_answer(const NodeHead& head, Frames& body) {
  const EnvelopePtr envelope = tables_.take_question(head.numbers[0]);
  if (envelope == nullptr) return;  // The question was answered before, or was never asked.
  LinkContext context(*this);
  envelope->type->wire->answer(*envelope, {head.rest, body, context});
}

void NodeLink::take_watch(std::uint64_t target) {
  const ReceiverPtr receiver = look_up(target).receiver;
  if (receiver == nullptr) {
    node_.count(&NodeCounts::unknown_actor);
    return send_down(target, Error{Code::kNotFound, "the peer has no actor of that name"});
  }
  if (!tables_.begin_watch()) {
    return node_.transport().close(peer_, "it watches too many actors");
  }
  receiver->watch(std::make_shared<DownForwarder>(node_.host(), shared_from_this(), target));
}

void NodeLink::take_down(const NodeHead& head) {
  auto crash = decode_value<std::optional<Error>>("node.down", head.rest);
  if (!crash) return node_.count(&NodeCounts::undecodable);
  tell_down(tables_.take_watchers(head.numbers[0]), *crash);
}

void NodeLink::take_stop(std::uint64_t target) {
  // A peer must not stop a published actor.
  const ReceiverPtr receiver = (target & kPublishedBit) != 0 ? nullptr : look_up(target).receiver;
  if (receiver == nullptr) return node_.count(&NodeCounts::unknown_actor);
  tables_.forget(target);
  receiver->stop_behind_queue();
}

}  // namespace forebay
