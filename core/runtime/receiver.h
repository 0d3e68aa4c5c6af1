#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/runtime/envelope.h"
#include "core/runtime/mailbox.h"

namespace forebay {

class ActorHost;
class Receiver;

/// Keeps a receiver's memory alive; the actor behind it may be dead.
using ReceiverPtr = std::shared_ptr<Receiver>;

/// The destination of one actor's messages: its cell in this process, or the representative of an
/// actor in another process. Thread-safe.
class Receiver {
 public:
  Receiver(ActorHost& host, ActorId id) : host_(host), id_(id) {}
  virtual ~Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Takes `envelope`, or refuses and leaves it: kOverloaded when the mailbox is full, kNotFound
  /// when the actor is dead, kUnavailable when its process is unreachable.
  virtual Status push(EnvelopePtr& envelope, MailboxCredit credit) = 0;

  /// Sends `watcher` a Down when the actor dies or becomes unreachable, or at once if it already
  /// is.
  virtual void watch(ReceiverPtr watcher) = 0;

  /// Ends the actor in an orderly way after the messages queued now.
  virtual void stop_behind_queue() = 0;

  /// The host of this process whose timers and clock an ask uses.
  ActorHost& host() const { return host_; }
  ActorId id() const { return id_; }

 private:
  ActorHost& host_;
  const ActorId id_;
};

/// Runtime → watcher: the actor is dead, or unreachable so that its state is unknown.
struct Down {
  static constexpr std::string_view kTag = "runtime.down/1";
  ActorId actor = ActorId::kNobody;
  std::optional<Error> crash = std::nullopt;  ///< Absent: it ended in an orderly way.
};

}  // namespace forebay
