#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/runtime/executor/executor.h"
#include "core/runtime/executor/long_turns.h"

namespace forebay {

class ActorHost;

/// Names the actors that hold a shared thread for a second or longer, while other actors may wait
/// for it.
///
/// Looks from the host's timers four times a second, so it speaks even if all shared threads are
/// held. The timers must stop before it is destroyed; `host` and `executor` must outlive it.
class TurnWatch {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Calls `say`, on the timers' thread, at an actor's first such turn, then at its second, fourth,
  /// eighth and so on.
  TurnWatch(ActorHost& host, const SharedExecutor& executor, Say say);
  TurnWatch(const TurnWatch&) = delete;
  TurnWatch& operator=(const TurnWatch&) = delete;

 private:
  void look_later();
  void look();
  void name(const LongTurns::Held& held);

  ActorHost& host_;
  const SharedExecutor& executor_;
  const Say say_;
  // Used on the timers' thread only, as those below.
  LongTurns turns_;
  std::map<std::string, std::uint64_t> num_long_;  // by the actor's name
};

}  // namespace forebay
