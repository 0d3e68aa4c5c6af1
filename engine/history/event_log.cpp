#include "engine/history/event_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace forebay {

std::vector<RunEvent> EventLog::after(const Kept& kept, std::uint64_t number) {
  const auto first = std::ranges::upper_bound(kept.events, number, {}, &RunEvent::number);
  return {first, kept.events.end()};
}

void EventLog::add(std::string kind, const JsonObject& data) {
  kept_.change([&](Kept& kept) {
    kept.events.push_back({++kept.added, std::move(kind), data.text()});
    kept.bytes += kept.events.back().data.size();
    while (kept.events.size() > kMost || (kept.bytes > kMostBytes && kept.events.size() > 1)) {
      kept.bytes -= kept.events.front().data.size();
      kept.events.pop_front();
    }
  });
}

std::vector<RunEvent> EventLog::wait_after(std::uint64_t number, std::chrono::nanoseconds most) {
  std::vector<RunEvent> found;
  static_cast<void>(kept_.wait(
      most, [number](const Kept& kept) { return kept.closed || kept.added > number; },
      [&](const Kept& kept) { found = after(kept, number); }));
  return found;
}

std::vector<RunEvent> EventLog::all() {
  return kept_.change([](const Kept& kept) { return after(kept, 0); });
}

void EventLog::close() {
  kept_.change([](Kept& kept) { kept.closed = true; });
}

bool EventLog::closed() {
  return kept_.change([](const Kept& kept) { return kept.closed; });
}

}  // namespace forebay
