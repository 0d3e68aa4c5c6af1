#include "engine/actors/cluster/actor_directory.h"

#include <chrono>
#include <vector>

namespace forebay {
namespace {

/// How long a node may take to make an actor.
constexpr std::chrono::seconds kStartPatience(30);

}  // namespace

Result<std::vector<EndActor>> ActorDirectory::on(const RegisterNode& node, Context& context) {
  if (auto status = table_.check(node); !status) {
    say("refused: " + status.error().message);
    return pass(status);
  }
  std::vector<EndActor> stale = table_.add(node);
  watch(node.node, ActorRef<Down>(self(context)));
  say("node " + node.name + " offers actors at " + node.address);
  place_waiting(context);
  return stale;
}

Status ActorDirectory::on(const ActorEnded& ended, Context&) {
  const ActorTable::Entry* entry = table_.with_life(ended.life);
  if (entry == nullptr) return {};
  if (!ended.reason.empty()) {
    say("actor " + ended.name + " on node " + entry->node + " has ended: " + ended.reason);
  }
  table_.remove(ended.name);
  return {};
}

Result<PlacedActor> ActorDirectory::on(PlaceActor&& place, AskerPtr& asker, Context& context) {
  if (asker == nullptr) return fail(Code::kInvalid, "who places an actor must ask");
  if (auto status = table_.check(place); !status) return pass(status);
  place.spec.birth = 0;
  ActorTable::Entry& entry = table_.add(place.spec);
  const ActorTable::Node* node = table_.place(entry, place.node);
  askers_.emplace(entry.life, std::move(asker));
  start(entry, *node, context);
  return PlacedActor{};  // The asker is answered later.
}

void ActorDirectory::start(const ActorTable::Entry& entry, const ActorTable::Node& node,
                           Context& context) {
  context.ask(node.ref, StartActor{entry.spec, entry.life}, kStartPatience,
              ActorRef<Answered<StartActor>>(self(context)), entry.life);
}

ActorDirectory::AskerPtr ActorDirectory::take_asker(std::uint64_t life) {
  auto found = askers_.extract(life);
  return found ? std::move(found.mapped()) : nullptr;
}

Status ActorDirectory::on(Answered<StartActor>&& started, Context&) {
  ActorTable::Entry* entry = table_.with_life(started.token);
  if (entry == nullptr) return {};  // Its node was lost meanwhile.
  if (!started.result) {
    start_failed(*entry, started.result.error());
    return {};
  }
  entry->state = ActorTable::State::kRunning;
  if (const AskerPtr asker = take_asker(started.token)) {
    asker->answer(table_.where(entry->spec.name));
  } else {
    say("actor " + entry->spec.name + " was started again on node " + entry->node);
  }
  return {};
}

void ActorDirectory::start_failed(const ActorTable::Entry& entry, const Error& error) {
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
  table_.remove(name);
  if (asker != nullptr) return asker->answer(fail(error.code, message));
  say(message + "; it has ended");
}

Result<PlacedActor> ActorDirectory::on(const FindActor& find, Context&) {
  return table_.where(find.name);
}

Result<ActorsStatus> ActorDirectory::on(const QueryActors&, Context&) { return table_.status(); }

Status ActorDirectory::on(const Down& down, Context& context) {
  const ActorTable::Node* node = table_.node_of(down.actor);
  if (node == nullptr) return {};  // It has registered again since.
  const std::string name = node->name;
  const std::string why = down.crash ? down.crash->message : "it has ended";
  const ActorTable::Loss loss = table_.lose(name, context.clock().now());
  const std::string lost = "node " + name + " was lost: " + why;
  say(lost + "; it had " + std::to_string(loss.lives.size()) + " actors");
  for (const std::uint64_t life : loss.lives) {
    if (const AskerPtr asker = take_asker(life)) {
      asker->answer(fail(Code::kUnavailable, lost));
    }
  }
  for (const std::string& ended : loss.ended) {
    say("actor " + ended + " has ended with its node: no restart is left");
  }
  place_waiting(context);
  return {};
}

void ActorDirectory::place_waiting(Context& context) {
  for (const std::string& name : table_.waiting()) {
    ActorTable::Entry& entry = *table_.find(name);
    if (const ActorTable::Node* node = table_.place(entry, "")) start(entry, *node, context);
  }
}

void ActorDirectory::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

}  // namespace forebay
