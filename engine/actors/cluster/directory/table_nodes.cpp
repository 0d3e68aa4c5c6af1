// Nodes that register, come back and are lost, and their actors then.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/runtime/supervisor.h"
#include "engine/actors/cluster/directory/actor_table.h"

namespace forebay {
namespace {

std::set<std::string> types_of(const std::vector<LibraryInfo>& libraries) {
  std::set<std::string> types;
  for (const LibraryInfo& one : libraries) types.insert(one.types.begin(), one.types.end());
  return types;
}

/// Whether the loss of its node at `now` leaves the actor a restart, which is written down then.
bool may_move(ActorTable::Entry& entry, ActorTable::Time now) {
  const auto restarts = static_cast<std::size_t>(entry.spec.restarts);
  Supervisor supervisor({.restarts = restarts, .period = entry.spec.period});
  for (const ActorTable::Time at : entry.losses) static_cast<void>(supervisor.allow_restart(at));
  if (!supervisor.allow_restart(now)) return false;
  entry.losses.push_back(now);
  if (entry.losses.size() > restarts) entry.losses.erase(entry.losses.begin());
  return true;
}

}  // namespace

Status ActorTable::check(const RegisterNode& node) const {
  if (!is_actor_name(node.name)) {
    return fail(Code::kInvalid, "a node's name must be one line of 1 to 128 bytes");
  }
  if (node.node.receiver() == nullptr || node.holds.size() > kMostActors) {
    return fail(Code::kInvalid, "node " + node.name + ": it is no node of this program");
  }
  const auto known = nodes_.find(node.name);
  if (known == nodes_.end() || known->second.process == node.process) return {};
  return fail(Code::kInvalid, "node " + node.name +
                                  ": another process with actors has this name; give --name NAME");
}

bool ActorTable::is_another_process(const RegisterNode& node) const {
  return std::any_of(actors_.begin(), actors_.end(), [&node](const auto& one) {
    const Entry& entry = one.second;
    return entry.state == State::kReturning && entry.node == node.name &&
           entry.process != node.process;
  });
}

ActorTable::Joined ActorTable::add(const RegisterNode& node) {
  Joined joined;
  std::set<std::string> held;
  for (const StartActor& one : node.holds) {
    const std::string& name = one.spec.name;
    Entry* entry = find(name);
    if (entry == nullptr && is_sound(one.spec) && !lives_.contains(one.life) &&
        !lost_.has(node.name, one.life)) {
      entry = &add(one.spec);  // of a head that had another store
      entry->node = node.name;
      entry->life = one.life;
      entry->state = State::kReturning;
      waiting_.erase(name);
      lives_.emplace(one.life, name);
      last_life_ = std::max(last_life_, one.life);
    }
    if (entry != nullptr && entry->life == one.life && entry->node == node.name) {
      held.insert(name);
    } else {
      joined.stale.push_back({name, one.life});
    }
  }
  lost_.erase(node.name);
  std::vector<std::string> gone;
  Node& added = nodes_[node.name];
  added = {.name = node.name,
           .address = node.address,
           .process = node.process,
           .types = types_of(node.libraries),
           .ref = node.node,
           .room = NodeRoom(node.cpu_thousandths, node.memory_bytes)};
  for (auto& [name, entry] : actors_) {
    if (entry.node != node.name) continue;
    added.room.take(entry.spec);
    const bool is_held = held.contains(name);
    if (entry.state == State::kStarting && !is_held) continue;
    joined.changed.push_back(name);
    if (!settle(entry, node, is_held)) gone.push_back(name);
  }
  for (const std::string& name : gone) remove(name);
  return joined;
}

/// Whether an actor of a node that registers goes on.
bool ActorTable::settle(Entry& entry, const RegisterNode& node, bool held) {
  if (!held && entry.started) return false;
  if (!held) {
    leave_node(entry);
    return true;
  }
  entry.process = node.process;
  entry.state = State::kRunning;
  entry.started = true;
  return true;
}

void ActorTable::add_types(const std::string& node, const std::vector<std::string>& types) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) found->second.types.insert(types.begin(), types.end());
}

const ActorTable::Node* ActorTable::node_of(ActorId ref) const {
  for (const auto& [name, node] : nodes_) {
    if (node.ref.id() == ref) return &node;
  }
  return nullptr;
}

const ActorTable::Node* ActorTable::node_named(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &found->second;
}

ActorTable::Loss ActorTable::lose(const std::string& node, Time now) {
  Loss loss;
  loss.node = {.node = node, .last_life = last_life_};
  lost_.add(loss.node);
  for (auto& [name, entry] : actors_) {
    if (entry.state == State::kWaiting || entry.node != node) continue;
    loss.lives.push_back(entry.life);
    leave_node(entry);
    const bool again = may_move(entry, now);
    if (again) ++entry.moves;
    (again ? loss.moving : loss.ended).push_back(name);
  }
  nodes_.erase(node);
  for (const std::string& name : loss.ended) remove(name);
  return loss;
}

std::set<std::string> ActorTable::missing_nodes() const {
  std::set<std::string> nodes;
  for (const auto& [name, entry] : actors_) {
    if (entry.state == State::kReturning) nodes.insert(entry.node);
  }
  return nodes;
}

}  // namespace forebay
