#include "core/runtime/turn_watch.h"

#include <bit>
#include <chrono>
#include <utility>

#include "core/runtime/actor_host.h"

namespace forebay {
namespace {

/// Names that are counted; an actor with another name is not named.
constexpr std::size_t kMostNames = 1000;

}  // namespace

TurnWatch::TurnWatch(ActorHost& host, const SharedExecutor& executor, Say say)
    : host_(host), executor_(executor), say_(std::move(say)) {
  look_later();
}

void TurnWatch::look_later() {
  host_.timers().add(host_.clock().now() + LongTurns::kLookInterval, [this] { look(); });
}

void TurnWatch::look() {
  for (const auto& held : turns_.look(host_.clock().now(), executor_.running())) name(held);
  look_later();
}

void TurnWatch::name(const LongTurns::Held& held) {
  const auto actor = host_.name_of(*held.work);
  if (!actor || (num_long_.size() == kMostNames && !num_long_.contains(*actor))) return;
  const std::uint64_t count = ++num_long_[*actor];
  if (!std::has_single_bit(count)) return;
  const auto tenths = std::chrono::floor<std::chrono::duration<int, std::deci>>(held.time).count();
  const std::size_t threads = executor_.num_threads();
  say_("actor " + *actor + " has held " +
       (threads == 1 ? "the only thread" : "one of the " + std::to_string(threads) + " threads") +
       " that actors share for " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
       " s" + (count == 1 ? "" : ", as " + std::to_string(count - 1) + " times before") +
       ": actors that block or compute for long need a thread of their own (own_thread)");
}

}  // namespace forebay
