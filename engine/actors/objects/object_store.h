#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/actor.h"
#include "engine/actors/objects/incoming_object.h"
#include "engine/actors/objects/object_memory.h"
#include "engine/actors/objects/object_messages.h"
#include "engine/actors/objects/object_sources.h"
#include "engine/actors/objects/sent_object.h"

namespace forebay {

/// Reference → store: I exist from now on. `bytes`: of an object that was put here and may have
/// gone since the reference was made.
struct TrackObject {
  static constexpr std::string_view kTag = "objects.track/1";
  SentObject object;
  std::optional<Frame> bytes = {};
};

/// Reference → store: I am gone.
struct DropObject {
  static constexpr std::string_view kTag = "objects.drop/1";
  ObjectKey key;
};

/// Receives an object's bytes or an error.
using ObjectArrived = std::function<void(Result<Frame>)>;

/// Reference → store: give me the bytes.
struct FetchObject {
  static constexpr std::string_view kTag = "objects.fetch/1";
  ObjectKey key;
  ObjectArrived arrived;
};

/// Store → itself: try what waits.
struct RetryObjects {
  static constexpr std::string_view kTag = "objects.retry/1";
};

/// Store → itself: let an object go that was kept for others, if it is not wanted again.
struct LetGoObject {
  static constexpr std::string_view kTag = "objects.let_go/1";
  ObjectKey key;
};

/// The objects of one process towards the others: counts references to those that were put here,
/// registers those of other owners, and fetches and serves bytes.
///
/// An object that was put here goes when no reference is left here and no process holds any; a
/// process whose session ends holds none. Reads the disk: give it a thread of its own.
class ObjectStore final
    : public ActorOf<ObjectStore, TrackObject, DropObject, FetchObject, RetryObjects, LetGoObject,
                     PullObject, HoldObject, ReleaseObject, LocateObject, ObjectFetched,
                     Answered<HoldObject>, Answered<LocateObject>, Answered<PullObject>, Down> {
 public:
  struct Options {
    std::uint64_t process = 0;  ///< Differs for each process of the cluster.
    std::string address = {};   ///< "H:P", where other processes reach this one; "": nowhere.
    /// Connects to an address, and keeps the session up.
    std::function<Status(const std::string& address)> connect = {};
    /// The store at an address; an empty ref while there is no session.
    std::function<ObjectStoreRef(const std::string& address)> find = {};
    std::chrono::nanoseconds patience = std::chrono::seconds(10);  ///< For a session to begin.
  };

  ObjectStore(Options options, std::shared_ptr<ObjectMemory> memory)
      : options_(std::move(options)), memory_(std::move(memory)) {}

  Status on(TrackObject&& track, Context& context);
  Status on(const DropObject& drop, Context& context);
  Status on(FetchObject&& fetch, Context& context);
  Status on(const RetryObjects& retry, Context& context);
  Status on(const LetGoObject& let_go, Context& context);

  Result<ObjectChunk> on(PullObject&& pull, std::unique_ptr<Replier<ObjectChunk>>& asker,
                         Context& context);
  Status on(const HoldObject& hold, Context& context);
  Status on(const ReleaseObject& release, Context& context);
  Result<std::string> on(const LocateObject& locate, Context& context);
  Status on(const ObjectFetched& fetched, Context& context);

  Status on(Answered<HoldObject>&& held, Context& context);
  Status on(Answered<LocateObject>&& located, Context& context);
  Status on(Answered<PullObject>&& pulled, Context& context);
  Status on(const Down& down, Context& context);

 private:
  using Time = std::chrono::nanoseconds;

  /// Put here.
  struct Owned {
    std::size_t references = 0;  ///< In this process.
    ObjectSources holders;       ///< Other processes.
  };
  /// A question for bytes that have not come yet.
  struct Parked {
    ObjectRange range;
    std::unique_ptr<Replier<ObjectChunk>> asker;
  };
  /// Put elsewhere.
  struct Borrowed {
    enum class State : std::uint8_t { kFinding, kAsking, kHeld, kLost };
    SentObject object;           ///< Its loan, until this process is registered.
    std::size_t references = 0;  ///< In this process.
    State state = State::kFinding;
    ObjectStoreRef owner = {};
    Error why = {};                           ///< If it is lost.
    std::vector<ObjectArrived> waiting = {};  ///< For the bytes.
    std::optional<IncomingObject> incoming = {};
    std::string source = {};          ///< Address from which it comes; "": the owner.
    bool finds_source = false;        ///< A session with the source has to begin.
    Time until{0};                    ///< For the session that is awaited.
    std::uint64_t token = 0;          ///< Of the answers that count.
    std::vector<Parked> parked = {};  ///< For bytes that are to come.
    std::optional<Time> pulled = {};  ///< When another process asked for bytes last.
  };
  /// What a question was about.
  struct Asked {
    ObjectKey key;
    ObjectStoreRef owner;
  };

  // Of the owner.
  Owned* owned(const ObjectKey& key);
  void end_if_unused(const ObjectKey& key);

  // Of a borrower: its owner.
  void let_go(const ObjectKey& key, Context& context);
  bool let_all_go(Context& context);
  void find_owner(Borrowed& object, Context& context);
  void release(const ObjectKey& key, Borrowed& object, Context& context);
  void lose(Borrowed& object, const Error& why);
  std::uint64_t next_token(Borrowed& object);
  /// The object that this answer is about, null if it does not count any more.
  Borrowed* answered(std::uint64_t token);
  Result<ObjectStoreRef> reach(const std::string& address);
  void retry_soon(const ObjectKey& key, Context& context);

  // Of a borrower: the bytes.
  void begin_fetch(Borrowed& object, Context& context);
  void begin_queued(Context& context);
  void locate(Borrowed& object, const std::string& failed, Context& context);
  void find_source(Borrowed& object, Context& context);
  void pull(Borrowed& object, const ObjectStoreRef& source, Context& context);
  void source_failed(Borrowed& object, const Error& why, Context& context);
  void arrived(Borrowed& object, Context& context);
  void end_fetch(Borrowed& object, const Result<Frame>& result);
  static void answer_parked(Borrowed& object);

  const Options options_;
  const std::shared_ptr<ObjectMemory> memory_;
  std::map<std::uint64_t, Owned> owned_;  // by number
  std::map<ObjectKey, Borrowed> borrowed_;
  std::map<ActorId, ObjectHolderRef> holders_;  // that are watched
  std::map<ActorId, ObjectStoreRef> owners_;    // that are watched
  std::map<std::string, Status> connected_;     // by address
  std::map<std::uint64_t, Asked> asked_;        // by token
  std::uint64_t last_token_ = 0;
  std::size_t fetching_ = 0;
  std::deque<ObjectKey> queued_;  // to be fetched after others
  std::set<ObjectKey> retrying_;
  bool retries_soon_ = false;
};

}  // namespace forebay
