// The choice of a node for an actor, and what to say if there is none.
#include <string>

#include "engine/actors/cluster/directory/actor_table.h"

namespace forebay {

Status ActorTable::check(const PlaceActor& place) const {
  const ActorSpec& spec = place.spec;
  if (!is_actor_name(spec.name)) {
    return fail(Code::kInvalid, "an actor's name must be one line of 1 to 128 bytes");
  }
  if (spec.start.size() > kMostStartBytes) {
    return fail(Code::kInvalid, "actor " + spec.name + ": its arguments take " +
                                    std::to_string(spec.start.size()) +
                                    " bytes, at most 1 MiB; send what is large in a message");
  }
  if (const auto taken = actors_.find(spec.name); taken != actors_.end()) {
    return fail(Code::kInvalid, "actor " + spec.name + ": the name is taken by an actor " +
                                    (taken->second.node.empty() ? "that waits for a node"
                                                                : "on node " + taken->second.node));
  }
  if (actors_.size() >= kMostActors) {
    return fail(Code::kOverloaded, "the head keeps at most a million actors; end some");
  }
  if (auto status = check_needs(spec); !status) return status;
  auto wanted = place.node.empty() ? node_near(spec) : place.node;
  if (!wanted) return pass(wanted);
  auto node = choose(spec, *wanted);
  return node ? Status() : Status(pass(node));
}

Status ActorTable::check_needs(const ActorSpec& spec) const {
  if (are_sound_needs(spec)) return {};
  return fail(Code::kInvalid,
              "actor " + spec.name + ": it needs at most 1,000,000 CPUs and 16 TiB of memory");
}

/// The node of the actor that this one is to be near; empty: of none.
Result<std::string> ActorTable::node_near(const ActorSpec& spec) const {
  if (spec.near.empty()) return std::string();
  const Entry* other = find(spec.near);
  if (other != nullptr && !other->node.empty()) return other->node;
  return fail(Code::kNotFound, "actor " + spec.name + ": actor " + spec.near +
                                   ", which it is to be near, is on no node");
}

Result<const ActorTable::Node*> ActorTable::choose(const ActorSpec& spec,
                                                   const std::string& wanted) const {
  if (!wanted.empty() && !nodes_.contains(wanted)) {
    return fail(Code::kNotFound, "actor " + spec.name + ": there is no node " + wanted +
                                     " with actors; there is " + types_here());
  }
  const Node* best = nullptr;
  bool has_type = false;
  for (const auto& [name, node] : nodes_) {
    if ((!wanted.empty() && name != wanted) || !node.types.contains(spec.type)) continue;
    has_type = true;
    if (!node.room.fits(spec)) continue;
    const bool better = best == nullptr || (spec.pack ? node.room.actors() > best->room.actors()
                                                      : node.room.actors() < best->room.actors());
    if (better) best = &node;
  }
  if (best != nullptr) return best;
  return tl::unexpected<Error>(has_type ? no_room(spec, wanted) : no_type(spec, wanted));
}

Error ActorTable::no_type(const ActorSpec& spec, const std::string& wanted) const {
  const std::string who = wanted.empty() ? "no node has" : "node " + wanted + " lacks";
  return {Code::kNotFound, "actor " + spec.name + ": " + who + " the type " + spec.type +
                               "; there is " + types_here() +
                               "; start a node with forebay worker --actors LIBRARY, or with "
                               "--accept-shipped where another one has it with --ship"};
}

Error ActorTable::no_room(const ActorSpec& spec, const std::string& wanted) const {
  std::string text = "actor " + spec.name + " needs " +
                     format_needs(spec.cpu_thousandths, spec.memory_bytes) +
                     ", and no node has room:";
  for (const auto& [name, node] : nodes_) {
    if ((!wanted.empty() && name != wanted) || !node.types.contains(spec.type)) continue;
    if (text.size() > 500) return {Code::kOverloaded, text + " and others"};
    text += (text.back() == ':' ? " " : ", ") + name + " lacks " + node.room.missing(spec);
  }
  return {Code::kOverloaded, text};
}

std::string ActorTable::types_here() const {
  std::string text;
  for (const auto& [name, node] : nodes_) {
    text.append(text.empty() ? "" : ", ").append(name).append(" with");
    for (const std::string& type : node.types) text.append(1, ' ').append(type);
    if (text.size() > 500) return text + " and others";
  }
  return text.empty() ? "no node" : text;
}

const ActorTable::Node* ActorTable::place(Entry& entry, const std::string& wanted) {
  const ActorSpec& spec = entry.spec;
  const std::string near = node_near(spec).value_or("");
  auto chosen = choose(spec, wanted.empty() ? near : wanted);
  if (!chosen && wanted.empty() && !near.empty()) chosen = choose(spec, "");
  if (!chosen) return nullptr;
  Node& node = nodes_.at((*chosen)->name);
  node.room.take(spec);
  waiting_.erase(spec.name);
  entry.node = node.name;
  entry.process = node.process;
  entry.state = State::kStarting;
  entry.life = ++last_life_;
  if (entry.spec.birth == 0) entry.spec.birth = entry.life;
  lives_.emplace(entry.life, spec.name);
  return &node;
}

}  // namespace forebay
