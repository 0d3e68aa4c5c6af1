#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "engine/actors/cluster/libraries/library_messages.h"
#include "engine/actors/user_message.h"

namespace forebay {

/// Names under which a head publishes its directory of actors, and a node its actors.
inline constexpr std::string_view kDirectoryName = "directory";
inline constexpr std::string_view kActorNodeName = "actors";

/// What the cluster must know of an actor to start it, also again on another node.
struct ActorSpec {
  std::string name;
  std::string type;
  std::vector<std::byte> start;  ///< The packed arguments of its constructor.
  std::uint64_t mailbox_bytes = 0;
  std::uint64_t restarts = 0;
  std::chrono::nanoseconds period{0};
  bool own_thread = false;
  std::uint64_t birth = 0;  ///< Set by the head: its first life; tells actors of one name apart.
  std::uint64_t cpu_thousandths = 0;  ///< Of its node, as is the memory.
  std::uint64_t memory_bytes = 0;
  bool pack = false;      ///< It prefers the node with the most actors to that with the fewest.
  std::string near = {};  ///< An actor on whose node it is to be.
  static auto fields(auto& self) {
    return std::tie(self.name, self.type, self.start, self.mailbox_bytes, self.restarts,
                    self.period, self.own_thread, self.birth, self.cpu_thousandths,
                    self.memory_bytes, self.pack, self.near);
  }
};

/// Head → node: start this actor. Answered when it has been made.
struct StartActor {
  static constexpr std::string_view kTag = "actors.start/1";
  ActorSpec spec;
  std::uint64_t life = 0;             ///< Differs for each start of an actor on a node.
  std::vector<std::byte> state = {};  ///< What it has kept last; empty: nothing.
  static auto fields(auto& self) { return std::tie(self.spec, self.life, self.state); }
};

/// Head → node: this actor is not to live there any more.
struct EndActor {
  static constexpr std::string_view kTag = "actors.end/1";
  std::string name;
  std::uint64_t life = 0;
  static auto fields(auto& self) { return std::tie(self.name, self.life); }
};

using ActorNodeRef = ActorRef<StartActor, EndActor, TakeLibrary, ReadLibrary>;

/// Node → head, at the start of each session: what it is, can start and holds. The answer lists the
/// actors that live elsewhere by now, or under another life: the node ends them.
struct RegisterNode {
  static constexpr std::string_view kTag = "actors.register/1";
  using Reply = std::vector<EndActor>;
  std::string name;
  std::string address;        ///< Where programs reach its actors.
  std::uint64_t process = 0;  ///< Differs for each process.
  std::vector<LibraryInfo> libraries;
  std::vector<StartActor> holds;
  ActorNodeRef node;
  std::uint64_t cpu_thousandths = 0;  ///< That its actors may need together, as is the memory.
  std::uint64_t memory_bytes = 0;
  bool accepts_shipped = false;  ///< It opens libraries that other nodes ship.
  static auto fields(auto& self) {
    return std::tie(self.name, self.address, self.process, self.libraries, self.holds, self.node,
                    self.cpu_thousandths, self.memory_bytes, self.accepts_shipped);
  }
};

/// Node → head: an actor has ended; `reason` is empty if it ended in order.
struct ActorEnded {
  static constexpr std::string_view kTag = "actors.ended/1";
  std::string name;
  std::uint64_t life = 0;
  std::string reason;
  static auto fields(auto& self) { return std::tie(self.name, self.life, self.reason); }
};

/// Node → head: an actor keeps this state. Answered when it is on the head's disk.
struct KeepState {
  static constexpr std::string_view kTag = "actors.keep/1";
  std::string name;
  std::uint64_t life = 0;
  std::vector<std::byte> state;
  static auto fields(auto& self) { return std::tie(self.name, self.life, self.state); }
};
inline std::size_t bytes_of(const KeepState& keep) { return sizeof(keep) + keep.state.size(); }

/// Where an actor lives.
struct PlacedActor {
  std::string name;
  std::string node;
  std::string address;
  std::uint64_t life = 0;
  std::uint64_t birth = 0;
  std::uint64_t moves = 0;
  static auto fields(auto& self) {
    return std::tie(self.name, self.node, self.address, self.life, self.birth, self.moves);
  }
};

/// Program → head: start this actor on `node`, or on a node that the head chooses.
struct PlaceActor {
  static constexpr std::string_view kTag = "actors.place/1";
  using Reply = PlacedActor;
  ActorSpec spec;
  std::string node;
  static auto fields(auto& self) { return std::tie(self.spec, self.node); }
};

/// Program → head: start all these actors, or none of them.
struct PlaceGroup {
  static constexpr std::string_view kTag = "actors.place_group/1";
  using Reply = std::vector<PlacedActor>;
  std::vector<PlaceActor> members;
  static auto fields(auto& self) { return std::tie(self.members); }
};

/// Program → head: where is the actor of this name?
struct FindActor {
  static constexpr std::string_view kTag = "actors.find/1";
  using Reply = PlacedActor;
  std::string name;
  static auto fields(auto& self) { return std::tie(self.name); }
};

/// Actors that a status lists, and whose use a node reports.
inline constexpr std::size_t kMostShownActors = 1000;

/// The use that an actor makes of its node.
struct ActorUse {
  double busy = 0;                  ///< The share of the last second in which it ran.
  std::uint64_t waiting_bytes = 0;  ///< In its mailbox.
  std::uint64_t crashes = 0;        ///< After which it went on, on this node.
  static auto fields(auto& self) { return std::tie(self.busy, self.waiting_bytes, self.crashes); }
};

/// Node → head, every second: its actors that are not idle. At most kMostShownActors, the first by
/// name.
struct ReportUse {
  static constexpr std::string_view kTag = "actors.use/1";
  std::string node;
  std::map<std::string, ActorUse> actors;
  static auto fields(auto& self) { return std::tie(self.node, self.actors); }
};

/// One actor, as `forebay status` shows it.
struct ActorStatus {
  std::string name;
  std::string type;
  std::string node;   ///< Empty while it waits for one.
  std::string state;  ///< starting, running or waiting.
  std::uint64_t moves = 0;
  ActorUse use = {};
  static auto fields(auto& self) {
    return std::tie(self.name, self.type, self.node, self.state, self.moves, self.use);
  }
};

/// What a head knows of its nodes and of their actors; of the actors at most
/// kMostShownActors.
struct ActorsStatus {
  std::uint64_t nodes = 0;
  std::uint64_t actors = 0;
  std::vector<ActorStatus> shown;
  static auto fields(auto& self) { return std::tie(self.nodes, self.actors, self.shown); }
};

/// Any actor → head: which actors are there?
struct QueryActors {
  static constexpr std::string_view kTag = "actors.query/1";
  using Reply = ActorsStatus;
  static auto fields(auto&) { return std::tie(); }
};

/// Head → program: the node is lost, and every life on it up to this one. They do not count any
/// more, even if the program still reaches them.
struct LostNode {
  static constexpr std::string_view kTag = "actors.lost_node/1";
  std::string node;
  std::uint64_t last_life = 0;
  static auto fields(auto& self) { return std::tie(self.node, self.last_life); }
};

/// Program → head, in each session: tell me of lost nodes. Answered with those that have not come
/// back.
struct FollowNodes {
  static constexpr std::string_view kTag = "actors.follow_nodes/1";
  using Reply = std::vector<LostNode>;
  ActorRef<LostNode> follower;
  static auto fields(auto& self) { return std::tie(self.follower); }
};

using DirectoryRef =
    ActorRef<RegisterNode, ActorEnded, KeepState, PlaceActor, PlaceGroup, FindActor, QueryActors,
             ReportUse, ReadLibrary, LibraryLoaded, FollowNodes>;

/// Program → node: give me a reference to this actor.
struct LocateActor {
  static constexpr std::string_view kTag = "actors.locate/1";
  using Reply = UserRef;
  std::string name;
  std::uint64_t life = 0;
  static auto fields(auto& self) { return std::tie(self.name, self.life); }
};

}  // namespace forebay
