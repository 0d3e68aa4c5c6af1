#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <forebay/actor.h>

#include "core/runtime/actor.h"
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

/// Runs a user's actor as an actor of `core/runtime`.
///
/// Owns the user's object. Opens packed messages on the actor's turn, when their types are known.
class HostedActor final : public ActorOf<HostedActor, UserMessage, RunPosted> {
 public:
  /// `kept` is null only if the object keeps no state.
  HostedActor(UserHost& host, std::unique_ptr<actors::ActorObject> object, KeptStatePtr kept)
      : host_(host), object_(std::move(object)), kept_(std::move(kept)) {}

  Result<UserValue> on(UserMessage&& message, std::unique_ptr<Replier<UserValue>>& asker,
                       Context& context);
  Status on(RunPosted&& posted, Context& context);

 private:
  class TurnHere;

  bool is_fenced() const { return kept_ != nullptr && kept_->is_fenced(); }

  UserHost& host_;
  const std::unique_ptr<actors::ActorObject> object_;
  const KeptStatePtr kept_;
  std::shared_ptr<const int> life_;  // made when it is needed first
};

/// The runtime's options for a public actor's.
SpawnOptions internal_options(const actors::SpawnOptions& options);

}  // namespace forebay
