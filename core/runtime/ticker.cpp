#include "core/runtime/ticker.h"

#include <limits>
#include <memory>
#include <utility>

#include "core/runtime/actor.h"

namespace forebay {
namespace {

/// Ticker → itself: a period has ended.
struct Tick {
  static constexpr std::string_view kTag = "runtime.tick/1";
};

class TickingActor final : public ActorOf<TickingActor, Tick> {
 public:
  TickingActor(std::chrono::milliseconds period, const std::function<void()>& tick)
      : period_(period), tick_(tick) {}

  Status on(const Tick&, Context& context) {
    context.after(period_, Tick{});  // First: the actor that follows a crash needs it, too.
    tick_();
    return {};
  }

 private:
  const std::chrono::milliseconds period_;
  const std::function<void()>& tick_;
};

}  // namespace

Ticker::Ticker(std::chrono::milliseconds period, std::function<void()> tick, Failed failed) {
  const auto actor = threads_.spawn(
      {.name = "ticker",
       .restart = {.restarts = std::numeric_limits<std::size_t>::max()},
       .on_crash = std::move(failed)},
      [period, tick = std::move(tick)] { return std::make_unique<TickingActor>(period, tick); });
  threads_.host().timers().add(clock_.now() + period,
                               [actor] { static_cast<void>(actor.tell(Tick{})); });
}

}  // namespace forebay
