#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/runtime/actor.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/cluster/known_actors.h"
#include "engine/actors/cluster/named_actor.h"
#include "engine/network/network_endpoint.h"

namespace forebay {

/// Receives the actor, or why there is none. Called on the resolver's thread.
using NamedActorFound = std::function<void(Result<std::shared_ptr<NamedActor>>)>;

/// Program → resolver: start this actor on a node, and find it.
struct SpawnNamed {
  static constexpr std::string_view kTag = "actors.spawn_named/1";
  PlaceActor place;
  NamedActorFound found = {};
  /// For a node that has the type, if it is shorter than the resolver's.
  std::chrono::nanoseconds patience = std::chrono::nanoseconds::max();
};

/// Program → resolver: find this actor.
struct FindNamed {
  static constexpr std::string_view kTag = "actors.find_named/1";
  std::string name;
  NamedActorFound found = {};
};

/// Resolver → itself: try again.
struct RetrySearch {
  static constexpr std::string_view kTag = "actors.retry_search/1";
  std::uint64_t search = 0;
};

/// Resolver → itself: ask the head for news of lost nodes.
struct FollowHead {
  static constexpr std::string_view kTag = "actors.follow_head/1";
};

/// Finds the cluster's actors for a program: asks the head's directory, connects to their nodes,
/// and keeps each NamedActor at where its actor is, until that has ended. Leaves an actor, even
/// of one that it still reaches, when the head has lost its node.
///
/// Owns the searches. Connects once to each node; the transport keeps the session up from then on.
class NameResolver final
    : public ActorOf<NameResolver, SpawnNamed, FindNamed, RetrySearch, Answered<PlaceActor>,
                     Answered<FindActor>, Answered<LocateActor>, FollowHead, Answered<FollowNodes>,
                     LostNode, Down> {
 public:
  struct Options {
    std::string head;  ///< "H:P"
    std::chrono::nanoseconds patience{0};
    std::function<void(const std::string&)> say = {};
  };

  /// `net` outlives the actor.
  NameResolver(Options options, NetworkEndpoint& net)
      : options_(std::move(options)), net_(net), known_(net.actors().host()) {}

  Status on(SpawnNamed&& spawn, Context& context);
  Status on(FindNamed&& find, Context& context);
  Status on(const RetrySearch& retry, Context& context);
  Status on(Answered<PlaceActor>&& placed, Context& context);
  Status on(Answered<FindActor>&& found, Context& context);
  Status on(Answered<LocateActor>&& located, Context& context);
  Status on(const FollowHead& follow, Context& context);
  Status on(Answered<FollowNodes>&& followed, Context& context);
  Status on(const LostNode& lost, Context& context);
  Status on(const Down& down, Context& context);

 private:
  using Time = std::chrono::nanoseconds;
  struct Search {
    std::string name;
    Time patience = Time::max();  ///< The resolver's, if that is shorter.
    Time until{0};
    std::uint64_t follows = 0;  ///< An actor's birth: until that actor is there again or has ended.
    std::unique_ptr<PlaceActor> place = nullptr;  ///< Until the actor was placed.
    NamedActorFound found = {};
    PlacedActor at = {};
  };

  void search_again(const std::shared_ptr<NamedActor>& actor, Context& context);
  void begin(Search search, Context& context);
  void try_now(std::uint64_t number, Context& context);
  void locate(std::uint64_t number, Context& context);
  void retry(std::uint64_t number, const Error& why, Context& context);
  void finish(std::uint64_t number, Result<std::shared_ptr<NamedActor>> found);

  const Options options_;
  NetworkEndpoint& net_;
  std::uint64_t last_search_ = 0;
  std::map<std::uint64_t, Search> searches_;
  std::set<std::string> connected_;  // addresses of nodes
  KnownActors known_;
  DirectoryRef head_;     // that reports lost nodes
  bool follows_ = false;  // or is about to
};

}  // namespace forebay
