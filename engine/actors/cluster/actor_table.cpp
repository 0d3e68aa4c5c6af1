#include "engine/actors/cluster/actor_table.h"

#include <algorithm>
#include <utility>

#include "core/base/enum_names.h"
#include "engine/actors/kept_state.h"

namespace forebay {
namespace {

constexpr std::size_t kMostActors = 1'000'000;
constexpr std::size_t kMostNameBytes = 128;
constexpr std::size_t kMostTypes = 1024;
constexpr std::size_t kMostStartBytes = std::size_t{1} << 20;
// A million actors' needs together are below 2^64.
constexpr std::uint64_t kMostCpuThousandths = 1'000'000'000;
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 44;

constexpr EnumName<ActorTable::State> kStateNames[] = {
    {"starting", ActorTable::State::kStarting},
    {"running", ActorTable::State::kRunning},
    {"waiting", ActorTable::State::kWaiting},
    {"returning", ActorTable::State::kReturning}};

RestartLimit losses_of(const ActorSpec& spec) {
  return {.restarts = static_cast<std::size_t>(spec.restarts), .period = spec.period};
}

}  // namespace

bool is_actor_name(std::string_view name) {
  const auto plain = [](char letter) { return static_cast<unsigned char>(letter) >= ' '; };
  return !name.empty() && name.size() <= kMostNameBytes &&
         std::all_of(name.begin(), name.end(), plain);
}

namespace {

bool are_sound_needs(const ActorSpec& spec) {
  return spec.cpu_thousandths <= kMostCpuThousandths && spec.memory_bytes <= kMostMemory;
}

bool is_sound(const ActorSpec& spec) {
  return is_actor_name(spec.name) && spec.start.size() <= kMostStartBytes && are_sound_needs(spec);
}

}  // namespace

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
                               "; start a node with forebay worker --actors LIBRARY"};
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

bool is_sound(const ActorRecord& record) {
  return is_sound(record.spec) && record.kept_bytes <= kMostKeptBytes &&
         (record.node.empty() ? record.life == 0 : is_actor_name(record.node) && record.life > 0);
}

ActorRecord ActorTable::record(const Entry& entry) {
  return {.spec = entry.spec,
          .node = entry.node,
          .process = entry.process,
          .life = entry.life,
          .moves = entry.moves,
          .started = entry.started,
          .kept_bytes = entry.kept_bytes};
}

void ActorTable::restore(const ActorRecord& record) {
  if (actors_.contains(record.spec.name) || lives_.contains(record.life)) return;
  Entry& entry = add(record.spec);
  entry.moves = record.moves;
  set_kept_bytes(entry, record.kept_bytes);
  last_life_ = std::max({last_life_, record.life, record.spec.birth});
  if (record.node.empty()) return;
  entry.node = record.node;
  entry.process = record.process;
  entry.life = record.life;
  entry.started = record.started;
  entry.state = State::kReturning;
  waiting_.erase(entry.spec.name);
  lives_.emplace(entry.life, entry.spec.name);
}

ActorTable::Entry& ActorTable::add(const ActorSpec& spec) {
  waiting_.insert(spec.name);
  return actors_.emplace(spec.name, Entry{.spec = spec, .losses = Supervisor(losses_of(spec))})
      .first->second;
}

void ActorTable::leave_node(Entry& entry) {
  const auto node = nodes_.find(entry.node);
  if (node != nodes_.end()) node->second.room.give_back(entry.spec);
  lives_.erase(entry.life);
  entry.node.clear();
  entry.process = 0;
  entry.life = 0;
  entry.started = false;
  entry.state = State::kWaiting;
  waiting_.insert(entry.spec.name);
}

void ActorTable::remove(const std::string& name) {
  const auto found = actors_.find(name);
  if (found == actors_.end()) return;
  leave_node(found->second);
  waiting_.erase(name);
  set_kept_bytes(found->second, 0);
  actors_.erase(found);
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

Status ActorTable::check(const RegisterNode& node) const {
  if (!is_actor_name(node.name)) {
    return fail(Code::kInvalid, "a node's name must be one line of 1 to 128 bytes");
  }
  if (node.node.receiver() == nullptr || node.types.size() > kMostTypes ||
      node.holds.size() > kMostActors) {
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
    if (entry == nullptr && is_sound(one.spec) && !lives_.contains(one.life)) {
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
  std::vector<std::string> gone;
  Node& added = nodes_[node.name];
  added = {.name = node.name,
           .address = node.address,
           .process = node.process,
           .types = {node.types.begin(), node.types.end()},
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

void ActorTable::set_kept_bytes(Entry& entry, std::uint64_t bytes) {
  kept_bytes_ += bytes - entry.kept_bytes;
  entry.kept_bytes = bytes;
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
  for (auto& [name, entry] : actors_) {
    if (entry.state == State::kWaiting || entry.node != node) continue;
    loss.lives.push_back(entry.life);
    leave_node(entry);
    const bool again = entry.losses.allow_restart(now);
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

const ActorTable::Entry* ActorTable::find(const std::string& name) const {
  const auto found = actors_.find(name);
  return found == actors_.end() ? nullptr : &found->second;
}

ActorTable::Entry* ActorTable::find(const std::string& name) {
  const auto found = actors_.find(name);
  return found == actors_.end() ? nullptr : &found->second;
}

ActorTable::Entry* ActorTable::with_life(std::uint64_t life) {
  const auto found = lives_.find(life);
  return found == lives_.end() ? nullptr : find(found->second);
}

Result<PlacedActor> ActorTable::where(const std::string& name) const {
  const auto found = actors_.find(name);
  if (found == actors_.end()) {
    return fail(Code::kNotFound, "no actor of the cluster is named " + name);
  }
  const Entry& entry = found->second;
  if (entry.state == State::kWaiting) {
    auto chosen = choose(entry.spec, "");
    return fail(Code::kUnavailable, chosen ? "actor " + name + " is about to be started"
                                           : chosen.error().message + "; it waits for a node");
  }
  if (entry.state == State::kStarting) {
    return fail(Code::kUnavailable, "actor " + name + " is being started on node " + entry.node);
  }
  if (entry.state == State::kReturning) {
    return fail(Code::kUnavailable,
                "actor " + name + ": its node " + entry.node +
                    " has not reached the head again since the head was started");
  }
  return PlacedActor{.name = name,
                     .node = entry.node,
                     .address = nodes_.at(entry.node).address,
                     .life = entry.life,
                     .birth = entry.spec.birth,
                     .moves = entry.moves};
}

std::vector<std::string> ActorTable::waiting() const {
  std::vector<std::string> names(waiting_.begin(), waiting_.end());
  std::stable_partition(names.begin(), names.end(), [this](const std::string& name) {
    return actors_.at(name).spec.near.empty();
  });
  return names;
}

ActorsStatus ActorTable::status() const {
  ActorsStatus status{.nodes = nodes_.size(), .actors = actors_.size(), .shown = {}};
  for (const auto& [name, entry] : actors_) {
    if (status.shown.size() == kMostShownActors) break;
    status.shown.push_back({.name = name,
                            .type = entry.spec.type,
                            .node = entry.node,
                            .state = std::string(name_in<State>(kStateNames, entry.state)),
                            .moves = entry.moves});
  }
  return status;
}

}  // namespace forebay
