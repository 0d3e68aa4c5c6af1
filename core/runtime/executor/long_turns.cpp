#include "core/runtime/executor/long_turns.h"

#include <utility>

namespace forebay {

std::vector<LongTurns::Held> LongTurns::look(
    Time now, const std::vector<SharedExecutor::RunningTurn>& running) {
  if (now - std::exchange(last_look_, now) > 2 * kLookInterval) turns_.clear();
  const auto before = std::exchange(turns_, {});
  std::vector<Held> held;
  for (const SharedExecutor::RunningTurn& turn : running) {
    const auto found = before.find(turn.number);
    Seen seen = found == before.end() ? Seen{.first = now} : found->second;
    if (!seen.is_returned && now - seen.first >= kLong) {
      seen.is_returned = true;
      held.push_back({.work = turn.work, .time = now - seen.first});
    }
    turns_.emplace(turn.number, seen);
  }
  return held;
}

}  // namespace forebay
