#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/node/node.h"

namespace forebay {

/// The actor that a peer's message is for.
struct LinkTarget {
  ReceiverPtr receiver;
  const MessageType* type = nullptr;  ///< Null: the actor does not accept this type.
};
/// Finds the type of this number among `types`; null if there is none.
const MessageType* type_of(std::span<const MessageType* const> types, std::uint64_t number);

/// What one session with a peer holds until it ends: the actors exported to the peer, the questions
/// waiting for its answers, the watchers of its actors, and the number of its watches.
///
/// Every table is bounded by Node::Options. Thread-safe; after end() the tables are empty and
/// refuse everything with its error.
class LinkTables {
 public:
  struct Watcher {
    ReceiverPtr receiver;
    ActorId shown;
  };
  /// What is left when a session ends.
  struct Left {
    std::unordered_map<std::uint64_t, EnvelopePtr> questions;
    std::unordered_map<std::uint64_t, std::vector<Watcher>> watchers;
  };

  /// `limits` must outlive this object.
  explicit LinkTables(const Node::Options& limits) : limits_(limits) {}

  /// The error of end(); success before.
  Status status() const;

  /// Keeps the envelope of a question until it is answered; leaves it with the caller on an error.
  Status keep_question(std::uint64_t number, EnvelopePtr& envelope);
  /// Null if the question was answered before, or was never asked.
  EnvelopePtr take_question(std::uint64_t number);

  /// Makes an actor reachable for the peer, for the message types that the ref lists.
  Status export_actor(const AnyActor& actor);
  /// Undoes one export_actor of this actor: the message that named it was not sent.
  void take_back(std::uint64_t target);
  /// Makes the actor unreachable for the peer, which has stopped it.
  void forget(std::uint64_t target);
  /// The actor exported as `target`, null if there is none, and its type of this number if one of
  /// its refs lists that.
  LinkTarget exported(std::uint64_t target, std::uint64_t type) const;

  Status add_watcher(std::uint64_t target, Watcher watcher);
  std::vector<Watcher> take_watchers(std::uint64_t target);
  /// Counts a watch of the peer; false if it has too many.
  bool begin_watch();
  void end_watch();

  /// Returns nothing if the tables have ended before.
  std::optional<Left> end(const Error& reason);

 private:
  struct Exported {
    ReceiverPtr receiver;
    std::vector<const MessageType*> types;
    std::size_t messages = 0;  // that named it
  };

  const Node::Options& limits_;
  std::atomic<bool> has_ended_{false};  // true once ended_ is set
  mutable std::mutex mutex_;
  std::optional<Error> ended_;  // under mutex_, as all below
  std::unordered_map<std::uint64_t, Exported> exported_;
  Left left_;
  std::size_t num_watched_ = 0;
};

}  // namespace forebay
