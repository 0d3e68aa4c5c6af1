#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/deadline.h"
#include "core/runtime/ask.h"
#include "core/runtime/synchronized.h"
#include "engine/network/network_endpoint.h"

namespace forebay {

/// An actor of a peer that may not have started yet.
struct AwaitedActor {
  std::string address;                  ///< "H:P", to which the endpoint connects.
  std::string_view name;                ///< Under which the peer publishes the actor.
  std::chrono::nanoseconds patience{};  ///< Until an answer.
  std::chrono::nanoseconds each{};      ///< Until the answer to one of the questions.
  bool any_error_passes = false;        ///< False: only kNotFound, before the actor exists.
};

/// Asks the actor until it answers: a peer that has just started can be connected to before its
/// actor exists. Blocks; not for an actor's thread. Ref: the type of a reference to the actor.
/// kUnavailable: no answer; the message is the last reason, to be added to another one: " (…)" or
/// "".
template <class Ref, Message M>
Result<ReplyOf<M>> await_answer(NetworkEndpoint& net, const AwaitedActor& actor, const M& message) {
  constexpr std::chrono::milliseconds kAskAgain(10);
  const SystemClock clock;
  const auto until = deadline_after(clock.now(), actor.patience);
  std::string why;
  do {
    const auto found = net.actor<Ref>(actor.address, actor.name);
    if (found.receiver() != nullptr) {
      auto answer = ask(found, M(message), actor.each).wait();
      if (answer) return answer;
      why = " (" + answer.error().message + ")";
      if (answer.error().code != Code::kNotFound && !actor.any_error_passes) break;
    } else {
      why = net.trouble();
    }
    static_cast<void>(Latch().wait_for(kAskAgain));
  } while (clock.now() < until);
  return fail(Code::kUnavailable, why);
}

}  // namespace forebay
