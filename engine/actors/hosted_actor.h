#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <forebay/actor.h>

#include "core/runtime/actor.h"
#include "engine/actors/held_messages.h"
#include "engine/actors/kept_state.h"
#include "engine/actors/local_target.h"
#include "engine/actors/user_message.h"

namespace forebay {

/// Anyone of this process → hosted actor: run this, unless the actor has crashed since.
struct RunPosted {
  static constexpr std::string_view kTag = "actors.posted/1";
  std::weak_ptr<const int> life;
  std::function<void()> run;
};

/// What an actor's place in its host keeps from one start of the actor to the next.
struct HostedPlace {
  KeptStatePtr kept = nullptr;  ///< Null if the actor keeps no state.
  std::size_t mailbox_bytes = 0;
  std::weak_ptr<HeldMessages> held = {};
};

/// Runs a user's actor as an actor of `core/runtime`.
///
/// Owns the user's object. Opens packed messages on the actor's turn, when their types are known,
/// and holds those back whose bytes have yet to come.
class HostedActor final : public ActorOf<HostedActor, UserMessage, HeldReady, RunPosted> {
 public:
  using Asker = std::unique_ptr<Replier<UserValue>>;

  /// `place` outlives the actor.
  HostedActor(UserHost& host, std::unique_ptr<actors::ActorObject> object, HostedPlace& place)
      : host_(host), object_(std::move(object)), place_(place) {}

  Result<UserValue> on(UserMessage&& message, Asker& asker, Context& context);
  Status on(HeldReady&& ready, Context& context);
  Status on(RunPosted&& posted, Context& context);

 private:
  class TurnHere;

  bool is_fenced() const { return place_.kept != nullptr && place_.kept->is_fenced(); }
  bool has_to_wait(const UserMessage& message) const;
  Status hold(UserMessage& message, Asker& asker, Context& context);
  Result<UserValue> handle_held(HeldMessages::Ready& held, Context& context);
  Result<UserValue> handle(UserMessage&& message, Asker& asker, Context& context);

  UserHost& host_;
  const std::unique_ptr<actors::ActorObject> object_;
  HostedPlace& place_;
  std::shared_ptr<HeldMessages> held_;  // kept while a timer, which keeps nothing, is to wake it
  std::shared_ptr<const int> life_;     // made when it is needed first
};

/// The runtime's options for a public actor's.
SpawnOptions internal_options(const actors::SpawnOptions& options);

}  // namespace forebay
