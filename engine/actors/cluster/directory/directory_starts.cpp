// Changed actors go to the disk; then they start on their nodes.
#include <chrono>
#include <string>
#include <utility>

#include "engine/actors/cluster/directory/actor_directory.h"

namespace forebay {
namespace {

/// How long a node may take to make an actor.
constexpr std::chrono::seconds kStartPatience(30);
/// After this the disk that refused a write, or a state that could not be read, is tried again.
constexpr std::chrono::seconds kTryAgain(1);

}  // namespace

void ActorDirectory::write_soon(Context& context) {
  if (!std::exchange(writes_soon_, true)) static_cast<void>(self(context).tell(WriteActors{}));
}

Status ActorDirectory::on(const WriteActors&, Context& context) {
  writes_soon_ = false;
  const Status written = store_.write(table_);
  for (const KeeperPtr& keeper : std::exchange(keepers_, {})) keeper->answer(Status(written));
  if (!written) {
    say("actors cannot be stored: " + written.error().message);
    refuse_starts(written.error());
    settle_groups(context);
    writes_soon_ = true;
    context.after(kTryAgain, WriteActors{});
  }
  ready_.insert(ready_.end(), placed_.begin(), placed_.end());
  placed_.clear();
  start_ready(context);
  return {};
}

/// Actors that start for the first time do so only if the disk has them.
void ActorDirectory::refuse_starts(const Error& error) {
  std::erase_if(placed_, [&](std::uint64_t life) {
    const ActorTable::Entry* entry = table_.with_life(life);
    const AskerPtr asker = entry == nullptr ? nullptr : take_asker(life);
    if (asker == nullptr) return false;
    const std::string name = entry->spec.name;
    table_.remove(name);
    store_.change(name);
    asker->answer(fail(error.code, "actor " + name + " cannot be stored: " + error.message));
    return true;
  });
}

/// States on their way to nodes are bounded: further actors that have one wait.
void ActorDirectory::start_ready(Context& context) {
  for (; !ready_.empty(); ready_.pop_front()) {
    const ActorTable::Entry* entry = table_.with_life(ready_.front());
    if (entry == nullptr) continue;  // It has ended meanwhile, or its node was lost.
    if (sent_bytes_ > 0 && sent_bytes_ + entry->kept_bytes > kMostStatesInMemory) return;
    if (auto status = start(*entry, context); !status) {
      const std::string name = entry->spec.name;
      say("actor " + name + " cannot be started: " + status.error().message);
      if (status.error().code != Code::kCorrupt) return context.after(kTryAgain, WriteActors{});
      remove(name, context);
    }
  }
}

/// Fails if the actor's kept state cannot be read.
Status ActorDirectory::start(const ActorTable::Entry& entry, Context& context) {
  StartActor message{.spec = entry.spec, .life = entry.life, .state = {}};
  if (entry.kept_bytes > 0) {
    auto state = store_.state(entry.spec.name, entry.spec.birth);
    if (!state) return pass(state);
    message.state = std::move(*state);
    sent_states_[entry.life] = message.state.size();
    sent_bytes_ += message.state.size();
  }
  context.ask(table_.node_named(entry.node)->ref, std::move(message), kStartPatience,
              ActorRef<Answered<StartActor>>(self(context)), entry.life);
  return {};
}

ActorDirectory::AskerPtr ActorDirectory::take_asker(std::uint64_t life) {
  auto found = askers_.extract(life);
  return found ? std::move(found.mapped()) : nullptr;
}

Status ActorDirectory::on(Answered<StartActor>&& started, Context& context) {
  if (const auto sent = sent_states_.extract(started.token)) sent_bytes_ -= sent.mapped();
  start_ready(context);
  ActorTable::Entry* entry = table_.with_life(started.token);
  if (entry == nullptr) return {};  // Its node was lost meanwhile.
  if (!started.result) {
    start_failed(*entry, started.result.error(), context);
    settle_groups(context);
    return {};
  }
  entry->state = ActorTable::State::kRunning;
  entry->started = true;
  changed(entry->spec.name, context);
  if (const AskerPtr asker = take_asker(started.token)) {
    asker->answer(table_.where(entry->spec.name));
    settle_groups(context);
  } else {
    say("actor " + entry->spec.name + " was started again on node " + entry->node);
  }
  return {};
}

void ActorDirectory::start_failed(ActorTable::Entry& entry, const Error& error, Context& context) {
  const std::string name = entry.spec.name;
  const std::string message = "actor " + name + " on node " + entry.node + ": " + error.message;
  AskerPtr asker = take_asker(entry.life);
  // If the session with the node is over, its Down decides about the actor.
  if (asker == nullptr && error.code == Code::kUnavailable) return;
  // A node that is late may start it yet: it is told to end it again.
  if (error.code == Code::kTimeout) {
    const ActorTable::Node* node = table_.node_named(entry.node);
    if (node != nullptr) static_cast<void>(node->ref.tell(EndActor{name, entry.life}));
  }
  remove(name, context);
  if (asker != nullptr) return asker->answer(fail(error.code, message));
  say(message + "; it has ended");
}

}  // namespace forebay
