#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/actor.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/cluster/directory/actor_store.h"
#include "engine/actors/cluster/directory/actor_table.h"
#include "engine/actors/cluster/libraries/library_table.h"

namespace forebay {

/// Owner → directory: begin. Sent once, right after the spawn.
struct BeginDirectory {
  static constexpr std::string_view kTag = "actors.begin_directory/1";
};

/// Directory → itself, behind the messages that wait now: write the actors that they have changed.
struct WriteActors {
  static constexpr std::string_view kTag = "actors.write/1";
};

/// Directory → itself: nodes of an earlier head that have not registered are lost.
struct LoseMissingNodes {
  static constexpr std::string_view kTag = "actors.lose_missing/1";
};

/// A head's directory of the cluster's actors: places them on nodes, finds them by name, keeps
/// their states, and starts those of a lost node again elsewhere.
///
/// A node is lost when its session with the head ends. Names, placements and kept states are on the
/// disk before anybody acts on them, with one sync for all messages that wait together. After a
/// restart of the head, nodes register again with the actors that they hold; a node that does not
/// within `patience` is lost. A node that was cut off and comes back has to end those that were
/// started elsewhere meanwhile; programs hear of it at once. Blocks on the disk: give it a thread
/// of its own.
class ActorDirectory final
    : public ActorOf<ActorDirectory, BeginDirectory, RegisterNode, ActorEnded, KeepState,
                     PlaceActor, PlaceGroup, FindActor, QueryActors, ReportUse, ReadLibrary,
                     LibraryLoaded, FollowNodes, WriteActors, LoseMissingNodes,
                     Answered<StartActor>, Down> {
 public:
  struct Options {
    std::uint64_t begin = 0;  ///< Now: nanoseconds since 1970. Lives are numbered from there on.
    std::chrono::nanoseconds patience = std::chrono::seconds(5);
    std::function<void(const std::string&)> say = {};
  };

  /// `store` outlives the actor.
  ActorDirectory(Options options, Store& store)
      : options_(std::move(options)), table_(options_.begin), store_(store) {}

  Status on(const BeginDirectory& begin, Context& context);
  Result<std::vector<EndActor>> on(const RegisterNode& node, Context& context);
  Status on(const ActorEnded& ended, Context& context);
  Status on(KeepState&& keep, std::unique_ptr<Replier<void>>& asker, Context& context);
  Result<PlacedActor> on(PlaceActor&& place, std::unique_ptr<Replier<PlacedActor>>& asker,
                         Context& context);
  Result<std::vector<PlacedActor>> on(PlaceGroup&& group,
                                      std::unique_ptr<Replier<std::vector<PlacedActor>>>& asker,
                                      Context& context);
  Result<PlacedActor> on(const FindActor& find, Context& context);
  Result<ActorsStatus> on(const QueryActors& query, Context& context);
  Status on(ReportUse&& report, Context& context);
  Result<LibraryChunk> on(ReadLibrary&& read, std::unique_ptr<Replier<LibraryChunk>>& asker,
                          Context& context);
  Status on(LibraryLoaded&& loaded, Context& context);
  Result<std::vector<LostNode>> on(const FollowNodes& follow, Context& context);
  Status on(const WriteActors& write, Context& context);
  Status on(const LoseMissingNodes& lose, Context& context);
  Status on(Answered<StartActor>&& started, Context& context);
  Status on(const Down& down, Context& context);

 private:
  /// Kept states that wait for the disk, and those on their way to nodes.
  static constexpr std::size_t kMostStatesInMemory = std::size_t{64} << 20;

  using AskerPtr = std::unique_ptr<Replier<PlacedActor>>;
  using KeeperPtr = std::unique_ptr<Replier<void>>;
  /// Actors that start together for the first time.
  struct Group {
    std::vector<PlacedActor> members;  ///< With name and birth from the beginning.
    std::size_t left = 0;              ///< How many have neither started nor failed.
    std::optional<Error> error;        ///< Of the first that failed.
    std::unique_ptr<Replier<std::vector<PlacedActor>>> asker;
  };

  std::uint64_t place_new(PlaceActor& place, AskerPtr asker, Context& context);
  void settle_groups(Context& context);
  void end_group(const Group& group, Context& context);
  void lose(const std::string& node, const std::string& why, Context& context);
  /// `name` must not be the entry's own, which goes.
  void remove(const std::string& name, Context& context);
  void changed(const std::string& name, Context& context);
  void write_soon(Context& context);
  void refuse_starts(const Error& error);
  void start_ready(Context& context);
  Status start(const ActorTable::Entry& entry, Context& context);
  void place_waiting(Context& context);
  void start_failed(ActorTable::Entry& entry, const Error& error, Context& context);
  AskerPtr take_asker(std::uint64_t life);
  Status check(const RegisterNode& node) const;
  void offer_libraries();
  void say(const std::string& sentence) const;

  const Options options_;
  std::chrono::nanoseconds begun_{0};  // options_.begin, by the clock
  ActorTable table_;
  LibraryTable libraries_;
  ActorStore store_;
  std::map<ActorId, ActorRef<LostNode>> followers_;              // programs that hear of lost nodes
  std::map<std::string, std::map<std::string, ActorUse>> uses_;  // by node and actor
  bool writes_soon_ = false;                                     // WriteActors is in the mailbox
  std::vector<KeeperPtr> keepers_;                               // wait for the next write
  std::map<std::uint64_t, AskerPtr> askers_;  // by life: of actors that start for the first time
  std::list<std::shared_ptr<Group>> groups_;  // that start
  std::vector<std::uint64_t> placed_;         // lives to be started after the next write
  std::deque<std::uint64_t> ready_;           // lives to be started; the disk has them
  std::map<std::uint64_t, std::size_t> sent_states_;  // by life: bytes, until the node answers
  std::size_t sent_bytes_ = 0;                        // their sum
};

}  // namespace forebay
