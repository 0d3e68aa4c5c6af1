#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/actor_host.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/cluster/lost_nodes.h"
#include "engine/actors/cluster/named_actor.h"

namespace forebay {

/// The cluster's actors to which a program refers, and where each of them is.
///
/// Keeps no NamedActor alive, but the references at which they are. Belongs to one thread.
class KnownActors {
 public:
  /// `host` outlives it.
  explicit KnownActors(ActorHost& host) : host_(host) {}

  struct Placed {
    std::shared_ptr<NamedActor> actor;
    bool is_new = false;  ///< No actor was at this reference before.
  };
  /// Moves the actor of that birth to `reference`; makes a NamedActor for a first reference to it.
  Placed place(const PlacedActor& at, const UserRef& reference);

  /// Forgets a reference. Returns the actor at it; null: there is none, or the program does not
  /// refer to it any more.
  std::shared_ptr<NamedActor> take(ActorId reference);

  /// Forgets the references to actors on a lost node. Returns those actors.
  std::vector<std::shared_ptr<NamedActor>> lose(const LostNode& lost);
  /// Whether the head has lost the node where an actor was placed.
  bool is_lost(const PlacedActor& at) const { return lost_.has(at.node, at.life); }

 private:
  /// Where a NamedActor is.
  struct Location {
    UserRef at;  ///< Keeps the reference, so that a later search finds and watches the same one.
    std::weak_ptr<NamedActor> actor;
    std::string node;
    std::uint64_t life = 0;
  };

  std::shared_ptr<NamedActor> named(const PlacedActor& at);

  ActorHost& host_;
  std::map<std::uint64_t, std::weak_ptr<NamedActor>> actors_;  // by birth
  std::map<ActorId, Location> locations_;  // by the reference at which an actor is
  LostNodes lost_;
  std::size_t to_sweep_at_ = 1024;
};

}  // namespace forebay
