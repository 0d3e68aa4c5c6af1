#include "engine/actors/cluster/directory/actor_table.h"

#include <algorithm>
#include <utility>

#include "core/base/enum_names.h"

namespace forebay {
namespace {

constexpr EnumName<ActorTable::State> kStateNames[] = {
    {"starting", ActorTable::State::kStarting},
    {"running", ActorTable::State::kRunning},
    {"waiting", ActorTable::State::kWaiting},
    {"returning", ActorTable::State::kReturning}};

}  // namespace

ActorRecord ActorTable::record(const Entry& entry) {
  return {.spec = entry.spec,
          .node = entry.node,
          .process = entry.process,
          .life = entry.life,
          .moves = entry.moves,
          .started = entry.started,
          .kept_bytes = entry.kept_bytes,
          .losses = entry.losses};
}

void ActorTable::restore(const ActorRecord& record) {
  if (actors_.contains(record.spec.name) || lives_.contains(record.life)) return;
  Entry& entry = add(record.spec);
  entry.moves = record.moves;
  entry.losses = record.losses;
  // The clock may have been set back since.
  for (Time& at : entry.losses) at = std::min(at, begin_);
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
  return actors_.emplace(spec.name, Entry{.spec = spec}).first->second;
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

void ActorTable::set_kept_bytes(Entry& entry, std::uint64_t bytes) {
  kept_bytes_ += bytes - entry.kept_bytes;
  entry.kept_bytes = bytes;
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
