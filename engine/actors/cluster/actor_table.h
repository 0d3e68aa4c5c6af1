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
#include "core/runtime/supervisor.h"
#include "engine/actors/cluster/cluster_messages.h"

namespace forebay {

/// Whether `name` may be an actor's: 1 to 128 bytes without control characters.
bool is_actor_name(std::string_view name);

/// The nodes and actors of a cluster, as a head knows them.
///
/// Pure: decides, and sends nothing. Belongs to one thread.
class ActorTable {
 public:
  using Time = std::chrono::nanoseconds;

  enum class State : std::uint8_t { kStarting, kRunning, kWaiting };

  struct Node {
    std::string name;
    std::string address;
    std::uint64_t process = 0;
    std::set<std::string> types;
    ActorNodeRef ref;
    std::size_t actors = 0;
  };

  struct Entry {
    ActorSpec spec;
    Supervisor losses{RestartLimit{}};  ///< Of its nodes.
    State state = State::kWaiting;
    std::string node = {};  ///< Empty while it waits.
    std::uint64_t life = 0;
    std::uint64_t moves = 0;
  };

  /// Lives are numbered from here on.
  explicit ActorTable(std::uint64_t first_life) : last_life_(first_life) {}

  /// Success if this actor can be placed now. kInvalid: a wrong or taken name; kNotFound: no node
  /// has its type, or there is no such node; kOverloaded: too many actors.
  Status check(const PlaceActor& place) const;
  Entry& add(const ActorSpec& spec);
  void remove(const std::string& name);

  /// Puts the actor on `wanted`, or on the node with the fewest actors of those that have its type,
  /// as starting under another life. Returns null, and leaves it waiting, if there is none.
  const Node* place(Entry& entry, const std::string& wanted);

  /// What is wrong with a registration. A process may register again.
  Status check(const RegisterNode& node) const;
  /// Adds the node and those of its actors that the table does not know or knows to be there, and
  /// removes those that it no longer holds. Returns its actors that have to end.
  std::vector<EndActor> add(const RegisterNode& node);
  /// The node behind this reference, or null.
  const Node* node_of(ActorId ref) const;
  const Node* node_named(const std::string& name) const;

  /// What the loss of a node does.
  struct Loss {
    std::vector<std::string> moving;   ///< Wait for another node now.
    std::vector<std::string> ended;    ///< Removed, since no restart is left.
    std::vector<std::uint64_t> lives;  ///< Of both, on the lost node.
  };
  Loss lose(const std::string& node, Time now);

  Entry* find(const std::string& name);
  Entry* with_life(std::uint64_t life);
  /// kNotFound: no such actor; kUnavailable: it is not running now.
  Result<PlacedActor> where(const std::string& name) const;
  std::vector<std::string> waiting() const;
  ActorsStatus status() const;

 private:
  std::string types_here() const;
  void leave_node(Entry& entry);

  std::uint64_t last_life_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Entry> actors_;
  std::map<std::uint64_t, std::string> lives_;  // names of actors on nodes
};

}  // namespace forebay
