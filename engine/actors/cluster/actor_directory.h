#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/runtime/actor.h"
#include "engine/actors/cluster/actor_table.h"
#include "engine/actors/cluster/cluster_messages.h"

namespace forebay {

/// A head's directory of the cluster's actors: places them on nodes, finds them by name, and starts
/// those of a lost node again elsewhere.
///
/// A node is lost when its session with the head ends. Keeps no state on the disk: after a restart
/// of the head, nodes register again with the actors that they hold. A node that was cut off and
/// comes back is told to end those that were started elsewhere meanwhile.
class ActorDirectory final : public ActorOf<ActorDirectory, RegisterNode, ActorEnded, PlaceActor,
                                            FindActor, QueryActors, Answered<StartActor>, Down> {
 public:
  struct Options {
    std::uint64_t first_life =
        0;  ///< Larger than any of an earlier head's; nanoseconds of the day.
    std::function<void(const std::string&)> say = {};
  };

  explicit ActorDirectory(Options options)
      : options_(std::move(options)), table_(options_.first_life) {}

  Result<std::vector<EndActor>> on(const RegisterNode& node, Context& context);
  Status on(const ActorEnded& ended, Context& context);
  Result<PlacedActor> on(PlaceActor&& place, std::unique_ptr<Replier<PlacedActor>>& asker,
                         Context& context);
  Result<PlacedActor> on(const FindActor& find, Context& context);
  Result<ActorsStatus> on(const QueryActors& query, Context& context);
  Status on(Answered<StartActor>&& started, Context& context);
  Status on(const Down& down, Context& context);

 private:
  using AskerPtr = std::unique_ptr<Replier<PlacedActor>>;

  void start(const ActorTable::Entry& entry, const ActorTable::Node& node, Context& context);
  void place_waiting(Context& context);
  void start_failed(const ActorTable::Entry& entry, const Error& error);
  AskerPtr take_asker(std::uint64_t life);
  void say(const std::string& sentence) const;

  const Options options_;
  ActorTable table_;
  std::map<std::uint64_t, AskerPtr> askers_;  // by life: of actors that start for the first time
};

}  // namespace forebay
