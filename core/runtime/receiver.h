#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/runtime/envelope.h"
#include "core/runtime/mailbox.h"

namespace forebay {

class ActorHost;
class Receiver;

/// Keeps a receiver's memory; the actor behind it may be dead.
using ReceiverPtr = std::shared_ptr<Receiver>;

/// Where one actor's messages go: its cell in this process, or what stands here for an actor of
/// another. Any thread.
class Receiver {
 public:
  Receiver(ActorHost& host, ActorId id) : host_(host), id_(id) {}
  virtual ~Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  /// Takes `envelope`, or says why not and leaves it: kOverloaded, kNotFound when the actor is
  /// dead, kUnavailable when its process is out of reach.
  virtual Status push(EnvelopePtr& envelope, MailboxCredit credit) = 0;

  /// Sends a Down to `watcher` when the actor dies or is out of reach, or at once when it is.
  virtual void watch(ReceiverPtr watcher) = 0;

  /// Lets the actor end in good order behind what is queued.
  virtual void stop_behind_queue() = 0;

  /// The host whose timers and clock those who ask here use: of this process.
  ActorHost& host() const { return host_; }
  ActorId id() const { return id_; }

 private:
  ActorHost& host_;
  const ActorId id_;
};

/// Runtime → watcher: the actor is dead, or nobody can know whether it is.
struct Down {
  static constexpr std::string_view kTag = "runtime.down/1";
  ActorId actor = ActorId::kNobody;
  std::optional<Error> crash = std::nullopt;  ///< Absent: it ended in good order.
};

}  // namespace forebay
