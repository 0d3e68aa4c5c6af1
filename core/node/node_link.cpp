#include "core/node/node_link.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/node/remote_actor.h"

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

/// Names the actors in one outgoing message, and keeps the error if one cannot be named.
class LinkContext final : public WireContext {
 public:
  explicit LinkContext(NodeLink& link) : link_(link) {}

  std::string export_actor(const std::shared_ptr<void>& actor) override {
    Result<std::string> name = link_.name_of(*std::static_pointer_cast<AnyActor>(actor));
    if (name) return *name;
    problem = name.error();
    return {};
  }

  Result<std::shared_ptr<void>> import_actor(std::string_view name) override {
    Result<ReceiverPtr> actor = link_.actor_named(name);
    if (!actor) return pass(actor);
    return std::static_pointer_cast<void>(*actor);
  }

  std::optional<Error> problem;

 private:
  NodeLink& link_;
};

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
  if (has_ended_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    return tl::unexpected<Error>(*ended_);
  }
  return node_.transport().send(peer_, lane, buffer.bytes(), std::exchange(buffer.frames, {}));
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
    if (sent) envelope.reset();
    return sent;
  }
  if (Status kept = keep_question(question, envelope); !kept) return kept;
  Status sent = transmit(buffer);
  if (sent) return sent;
  envelope = take_question(question);
  // The session ended meanwhile, and the asker was answered.
  return envelope == nullptr ? Status() : sent;
}

Status NodeLink::keep_question(std::uint64_t number, EnvelopePtr& envelope) {
  const std::lock_guard lock(mutex_);
  if (ended_) return tl::unexpected<Error>(*ended_);
  if (questions_.size() >= node_.options().max_questions) {
    return fail(Code::kOverloaded,
                "the peer has not answered " + std::to_string(questions_.size()) + " questions");
  }
  questions_.emplace(number, std::move(envelope));
  return {};
}

EnvelopePtr NodeLink::take_question(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = questions_.find(number);
  if (found == questions_.end()) return nullptr;
  EnvelopePtr envelope = std::move(found->second);
  questions_.erase(found);
  return envelope;
}

void NodeLink::watch(std::uint64_t target, const ReceiverPtr& watcher, ActorId shown) {
  Status status;
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      watchers_[target].push_back({watcher, shown});
    } else {
      status = tl::unexpected<Error>(*ended_);
    }
  }
  if (status) {
    WireBuffer& buffer = buffer_of_thread();
    write_head(buffer, NodeMessage::kWatch, target);
    // After kOverloaded the session is ended here; after another error it is over already. Its end
    // sends Down to the watcher.
    if (Status sent = transmit(buffer); !sent && sent.error().code == Code::kOverloaded) {
      node_.transport().close(peer_, "too much waits to be sent");
    }
    return;
  }
  EnvelopePtr envelope = seal(Down{.actor = shown, .crash = status.error()}, shown);
  static_cast<void>(watcher->push(envelope, MailboxCredit::kExempt));
}

void NodeLink::stop(std::uint64_t target) {
  WireBuffer& buffer = buffer_of_thread();
  write_head(buffer, NodeMessage::kStop, target);
  static_cast<void>(transmit(buffer));  // An unreachable actor cannot be stopped.
}

void NodeLink::answer(std::uint64_t question,
                      const std::function<void(WireBuffer&, WireContext&)>& write) {
  WireBuffer& buffer = buffer_of_thread();
  write_head(buffer, NodeMessage::kAnswer, question);
  LinkContext context(*this);
  write(buffer, context);
  if (context.problem) {
    buffer.clear();
    write_head(buffer, NodeMessage::kAnswer, question);
    encode_value(Status(tl::unexpected<Error>(*context.problem)), buffer, &context);
  }
  if (!transmit(buffer)) count(&NodeCounts::unsent_answers);
}

void NodeLink::send_down(std::uint64_t target, const std::optional<Error>& crash) {
  WireBuffer& buffer = buffer_of_thread();
  write_head(buffer, NodeMessage::kDown, target);
  encode_value(crash, buffer);
  static_cast<void>(transmit(buffer));  // An unreachable peer reports Down by itself.
}

void NodeLink::watch_is_over() {
  const std::lock_guard lock(mutex_);
  --num_watched_;
}

Result<std::string> NodeLink::name_of(const AnyActor& actor) {
  // The actor lives at that peer, so use the name that the peer knows it by.
  const auto* there = dynamic_cast<const RemoteActor*>(actor.receiver.get());
  if (there != nullptr && there->link().get() == this) {
    return "y" + std::to_string(there->target());
  }
  const auto number = static_cast<std::uint64_t>(actor.receiver->id());
  const std::lock_guard lock(mutex_);
  if (ended_) return tl::unexpected<Error>(*ended_);
  auto found = exported_.find(number);
  if (found == exported_.end()) {
    if (exported_.size() >= node_.options().max_exports) {
      return fail(Code::kOverloaded, "the peer has been given " + std::to_string(exported_.size()) +
                                         " refs, more are not kept");
    }
    found = exported_.emplace(number, Exported{actor.receiver, {}}).first;
  }
  std::vector<const MessageType*>& types = found->second.types;
  for (const MessageType* type : actor.types) {
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return "m" + std::to_string(number);
}

Result<ReceiverPtr> NodeLink::actor_named(std::string_view name) {
  std::uint64_t number = 0;
  const char* end = name.data() + name.size();
  const bool marked = !name.empty() && (name[0] == 'm' || name[0] == 'y');
  if (!marked || std::from_chars(name.data() + 1, end, number).ptr != end) {
    return fail(Code::kCorrupt, "is no actor's name");
  }
  if (name[0] == 'm') return remote(number);
  ReceiverPtr ours = receiver_of(number);
  if (ours == nullptr) return fail(Code::kNotFound, "names an actor that was never exported");
  return ours;
}

void NodeLink::end(const Error& reason) {
  decltype(questions_) questions;
  decltype(watchers_) watchers;
  decltype(exported_) exported;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = Error{Code::kUnavailable, reason.message};
    has_ended_.store(true, std::memory_order_release);
    questions.swap(questions_);
    watchers.swap(watchers_);
    exported.swap(exported_);
  }
  const Error error{Code::kUnavailable, reason.message};
  for (auto& [number, envelope] : questions) envelope->type->refuse(*envelope, error);
  for (auto& [target, list] : watchers) {
    for (const Watcher& watcher : list) {
      EnvelopePtr envelope = seal(Down{.actor = watcher.shown, .crash = error}, watcher.shown);
      static_cast<void>(watcher.receiver->push(envelope, MailboxCredit::kExempt));
    }
  }
}

NodeCounts NodeLink::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void NodeLink::count(std::uint64_t NodeCounts::*what) {
  const std::lock_guard lock(mutex_);
  ++(counts_.*what);
}

}  // namespace forebay
