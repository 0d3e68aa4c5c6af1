#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/actor.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/cluster/libraries/library_fetch.h"
#include "engine/actors/cluster/libraries/node_libraries.h"
#include "engine/actors/local_target.h"

namespace forebay {

/// Owner → actor node: begin. Sent once, right after the spawn.
struct BeginActorNode {
  static constexpr std::string_view kTag = "actors.begin_node/1";
};

/// Actor node → itself, several times a second.
struct ActorNodeTick {
  static constexpr std::string_view kTag = "actors.node_tick/1";
};

/// A node's part in a cluster of actors: registers with the head's directory, again in each
/// session, makes the actors that it asks for, reports which have ended, and fetches and gives
/// libraries that are shipped.
///
/// Does not own the actors, which live in the same host. What it ends by the head's word handles no
/// further message, not even those that wait for it.
class ActorNode final : public ActorOf<ActorNode, BeginActorNode, ActorNodeTick, StartActor,
                                       EndActor, LocateActor, Answered<RegisterNode>, TakeLibrary,
                                       ReadLibrary, Answered<ReadLibrary>, Down> {
 public:
  struct Options {
    std::string name;
    std::string address;        ///< "H:P", where programs reach this node.
    std::uint64_t process = 0;  ///< Differs for each process.
    std::uint64_t cpus = 0;     ///< For its actors together.
    std::uint64_t memory_bytes = 0;
    std::function<DirectoryRef()> directory = {};  ///< Empty ref: no session with the head now.
    std::function<void(const std::string&)> say = {};
  };

  /// `libraries` and `host` outlive the actor.
  ActorNode(Options options, NodeLibraries& libraries, UserHost& host)
      : options_(std::move(options)), libraries_(libraries), fetch_(libraries), host_(host) {}

  Status on(const BeginActorNode& begin, Context& context);
  Status on(const ActorNodeTick& tick, Context& context);
  Status on(StartActor&& start, Context& context);
  Status on(const EndActor& end, Context& context);
  Result<UserRef> on(const LocateActor& locate, Context& context);
  Status on(Answered<RegisterNode>&& registered, Context& context);
  Status on(const TakeLibrary& take, Context& context);
  Result<LibraryChunk> on(const ReadLibrary& read, Context& context);
  Status on(Answered<ReadLibrary>&& part, Context& context);
  Status on(const Down& down, Context& context);

 private:
  struct Held {
    StartActor start;  ///< Without a state.
    UserRef actor;
    std::shared_ptr<TurnMeter> meter;
    KeptStatePtr kept;
    std::chrono::nanoseconds busy{0};  ///< At the last report.
  };

  void register_here(Context& context);
  void fetch_libraries(Context& context);
  void report_use(std::chrono::nanoseconds now);
  KeptStatePtr kept_state_of(StartActor& start) const;

  const Options options_;
  NodeLibraries& libraries_;
  LibraryFetch fetch_;
  UserHost& host_;
  const std::shared_ptr<std::atomic<std::size_t>> keeping_ =
      std::make_shared<std::atomic<std::size_t>>(0);  // bytes of states on their way to the head
  std::map<std::string, Held> actors_;
  std::map<ActorId, std::string> names_;  // of the same actors
  DirectoryRef head_;                     // of the session in which this node registered last
  std::chrono::nanoseconds reported_{0};  // when the last report was made
  bool registered_ = false;
  bool asking_ = false;
  std::string trouble_;  // why the head refused it; empty: it did not
};

}  // namespace forebay
