#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <forebay/actor.h>

#include "core/runtime/actor_host.h"
#include "core/runtime/actor_ref.h"
#include "engine/actors/kept_state.h"
#include "engine/actors/objects/objects.h"
#include "engine/actors/user_message.h"

namespace forebay {

/// The public host of an ActorHost: starts users' actors there, and finds what references mean.
///
/// Owns nothing; `host` outlives it, as it must outlive its actors. Thread-safe.
class UserHost : public actors::Host, public ActorFinder {
 public:
  explicit UserHost(ActorHost& host, Objects::Options objects = {})
      : host_(host), objects_(host, std::move(objects)) {}
  ~UserHost() override { life_->store(false); }
  UserHost(const UserHost&) = delete;
  UserHost& operator=(const UserHost&) = delete;

  actors::TargetPtr spawn(const actors::SpawnOptions& options, actors::ActorFactory make) override;
  /// Starts an actor that begins with what `kept` has and keeps its state there; null: in memory.
  /// `meter`: what measures it; null: nothing.
  actors::TargetPtr spawn(const actors::SpawnOptions& options, actors::ActorFactory make,
                          KeptStatePtr kept, std::shared_ptr<TurnMeter> meter);
  actors::TargetPtr target_of(const ReceiverPtr& receiver) override;
  actors::ObjectPtr object_of(const SentObject& object) override { return objects_.take(object); }

  /// A large message to an actor here was lost. Returns what is to be said of it: each time that
  /// their number has doubled.
  Status dropped(const Error& why);

  Objects& objects() override { return objects_; }
  ActorHost& host() const { return host_; }
  /// False once this object is gone.
  const std::shared_ptr<std::atomic<bool>>& life() const { return life_; }

 private:
  ActorHost& host_;
  Objects objects_;
  std::atomic<std::uint64_t> num_dropped_{0};
  const std::shared_ptr<std::atomic<bool>> life_ = std::make_shared<std::atomic<bool>>(true);
};

/// What a public reference points to: a user's actor, by the runtime's reference to it.
///
/// Moves messages to an actor of this process, and packs those to others.
class LocalTarget final : public actors::Target {
 public:
  LocalTarget(UserRef ref, UserHost& host);

  actors::Status push(actors::Box& message) override;
  void ask(actors::Box message, const actors::ValueType* reply, std::chrono::nanoseconds deadline,
           Done done) override;
  void watch(actors::TargetPtr watcher) override;
  void stop() override;
  const void* identity() const override { return ref_.receiver().get(); }
  std::shared_ptr<actors::WaitingWork> waiting_work() const override;

  /// Delivers a message of Forebay's, also to a full mailbox.
  void deliver_always(actors::Box message) const;
  const UserRef& ref() const { return ref_; }

 private:
  Result<UserMessage> to_send(const actors::Box& message) const;

  const UserRef ref_;
  const bool is_here_;
  UserHost& host_;  // while life_ is true
  const std::shared_ptr<std::atomic<bool>> life_;
};

/// The internal actor behind a target.
AnyActor local_actor(const actors::Target& target);

/// Pushes a message of Forebay's to a watcher.
void notify(actors::Target& watcher, actors::Box message);

}  // namespace forebay
