#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/cluster/directory/actor_record.h"
#include "engine/actors/cluster/directory/node_room.h"
#include "engine/actors/cluster/lost_nodes.h"

namespace forebay {

/// The nodes and actors of a cluster, as a head knows them.
///
/// Pure: decides, and sends nothing. Belongs to one thread.
class ActorTable {
 public:
  using Time = std::chrono::nanoseconds;

  enum class State : std::uint8_t {
    kStarting,
    kRunning,
    kWaiting,    ///< For a node.
    kReturning,  ///< Its node has not registered since the head was started.
  };

  struct Node {
    std::string name;
    std::string address;
    std::uint64_t process = 0;
    std::set<std::string> types;
    ActorNodeRef ref;
    NodeRoom room;
  };

  struct Entry {
    ActorSpec spec;
    std::vector<Time> losses = {};  ///< Of its nodes, the last ones after which it was moved.
    State state = State::kWaiting;
    std::string node = {};      ///< Empty while it waits.
    std::uint64_t process = 0;  ///< Of the node.
    std::uint64_t life = 0;
    std::uint64_t moves = 0;
    bool started = false;          ///< The node has confirmed this life.
    std::uint64_t kept_bytes = 0;  ///< Of its kept state.
  };

  /// `begin`: time since 1970, in nanoseconds. Lives are numbered from there on.
  explicit ActorTable(std::uint64_t begin) : begin_(begin), last_life_(begin) {}

  /// Success if this actor can be placed now. kInvalid: a wrong or taken name, or wrong needs;
  /// kNotFound: no node has its type, or there is no such node, or no actor that it is to be near;
  /// kOverloaded: no node has room, or too many actors.
  Status check(const PlaceActor& place) const;
  Entry& add(const ActorSpec& spec);
  /// Adds an actor as an earlier head had it: its node is expected to register.
  void restore(const ActorRecord& record);
  static ActorRecord record(const Entry& entry);
  void remove(const std::string& name);

  /// Puts the actor, as starting under another life, on `wanted`, else near another one, else on
  /// the node that it prefers of those that have its type and room for it. Returns null, and leaves
  /// it waiting, if there is none.
  const Node* place(Entry& entry, const std::string& wanted);

  /// What is wrong with a registration. A process may register again.
  Status check(const RegisterNode& node) const;
  /// Whether another process of this name had actors at an earlier head.
  bool is_another_process(const RegisterNode& node) const;
  /// What a registration does.
  struct Joined {
    std::vector<EndActor> stale;       ///< Actors that have to end on the node.
    std::vector<std::string> changed;  ///< Adopted, back, removed, or waiting for a node now.
  };
  /// Adds the node and those of its actors that the table knows to be there, or does not know and
  /// has not lost with the node. Removes those that it no longer holds; one whose start it has not
  /// confirmed is to be started again.
  Joined add(const RegisterNode& node);
  /// The node can start actors of these types, too.
  void add_types(const std::string& node, const std::vector<std::string>& types);
  /// The node behind this reference, or null.
  const Node* node_of(ActorId ref) const;
  const Node* node_named(const std::string& name) const;

  /// What the loss of a node does.
  struct Loss {
    std::vector<std::string> moving;   ///< Wait for another node now.
    std::vector<std::string> ended;    ///< Removed, since no restart is left.
    std::vector<std::uint64_t> lives;  ///< Of both, on the lost node.
    LostNode node;                     ///< For programs.
  };
  /// `now`: time since 1970, so that restarts are limited across heads.
  Loss lose(const std::string& node, Time now);
  /// Those that have not come back.
  const LostNodes& lost_nodes() const { return lost_; }
  /// Nodes that have not registered since the head was started, though they had actors.
  std::set<std::string> missing_nodes() const;
  /// Takes an actor from its node; it waits for another one.
  void leave_node(Entry& entry);

  /// The actor's kept state takes so many bytes now.
  void set_kept_bytes(Entry& entry, std::uint64_t bytes);
  /// The bytes of all kept states.
  std::uint64_t kept_bytes() const { return kept_bytes_; }

  Entry* find(const std::string& name);
  const Entry* find(const std::string& name) const;
  Entry* with_life(std::uint64_t life);
  /// kNotFound: no such actor; kUnavailable: it is not running now.
  Result<PlacedActor> where(const std::string& name) const;
  /// Those that are to be near others come last.
  std::vector<std::string> waiting() const;
  ActorsStatus status() const;

 private:
  Status check_needs(const ActorSpec& spec) const;
  Result<const Node*> choose(const ActorSpec& spec, const std::string& wanted) const;
  Result<std::string> node_near(const ActorSpec& spec) const;
  Error no_type(const ActorSpec& spec, const std::string& wanted) const;
  Error no_room(const ActorSpec& spec, const std::string& wanted) const;
  std::string types_here() const;
  bool settle(Entry& entry, const RegisterNode& node, bool held);

  const Time begin_;
  std::uint64_t last_life_;
  std::uint64_t kept_bytes_ = 0;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Entry> actors_;
  std::map<std::uint64_t, std::string> lives_;  // names of actors on nodes
  std::set<std::string> waiting_;               // names
  LostNodes lost_;
};

}  // namespace forebay
