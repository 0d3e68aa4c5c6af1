#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/actor_host.h"
#include "core/runtime/actor_ref.h"
#include "core/runtime/synchronized.h"
#include "engine/actors/user_message.h"

namespace forebay {

/// Represents an actor of the cluster in a program, wherever it lives: passes users' messages on to
/// where it is now, and refuses them with kUnavailable while it is being started elsewhere.
///
/// An error because of which no answer can come names the actor and its node. Watchers are told
/// when it ends or its node cannot be reached. Thread-safe.
class NamedActor final : public Receiver {
 public:
  NamedActor(ActorHost& host, std::string name, std::uint64_t birth)
      : Receiver(host, host.next_id()), name_(std::move(name)), birth_(birth) {}

  Status push(EnvelopePtr& envelope, MailboxCredit credit) override;
  void watch(ReceiverPtr watcher) override;
  void stop_behind_queue() override;
  std::shared_ptr<WaitingWork> waiting_work() const override;

  /// It is reached by `at`, on this node, from now on.
  void move_to(const std::string& node, ReceiverPtr at);
  /// It cannot be reached, or has ended: in order if there is no crash.
  void lose(const std::optional<Error>& crash);
  /// The head has lost the node, which may still be reached: as lose(), and what the actor there
  /// answers from now on does not count.
  void cut_off(const Error& why);
  /// It has ended for good.
  void end(const Error& why);

  const std::string& name() const { return name_; }
  /// Tells it from earlier and later actors of its name.
  std::uint64_t birth() const { return birth_; }

 private:
  struct Place {
    explicit Place(std::string on = {}) : node(std::move(on)) {}
    const std::string node;
    std::atomic<bool> cut_off{false};
  };
  struct Now {
    ReceiverPtr at;  ///< Null while it cannot be reached.
    std::shared_ptr<Place> place = std::make_shared<Place>();
    std::optional<Error> crash;  ///< What watchers are told.
    Error refusal;               ///< What askers are told while `at` is null.
    std::vector<ReceiverPtr> watchers;
  };

  const std::string name_;
  const std::uint64_t birth_;
  mutable Synchronized<Now> now_;
};

}  // namespace forebay
