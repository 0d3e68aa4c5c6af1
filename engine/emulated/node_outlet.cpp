#include "engine/emulated/node_outlet.h"

#include <chrono>

namespace forebay {
namespace {

/// An actor that waits looks so often whether it was stopped.
constexpr auto kStopCheck = std::chrono::milliseconds(50);

}  // namespace

/// Waits until `ready(state)` is true, as waiting for output; false: the actor was stopped.
template <class State, class Ready>
bool NodeOutlet::wait(Synchronized<State>& state, PoolContext& context, const Ready& ready) {
  const auto nothing = [](const State&) {};
  if (state.wait(std::chrono::nanoseconds(0), ready, nothing)) return true;
  count_waiting(1);
  bool is_ready = false;
  {
    const PoolContext::OutputWait waits(context);
    while (!is_ready && !context.cancelled()) is_ready = state.wait(kStopCheck, ready, nothing);
  }
  count_waiting(-1);
  return is_ready;
}

void NodeOutlet::count_waiting(int change) {
  const double now = options_.machine.now();
  serial_([&] {
    if (waiting_ > 0) full_seconds_ += now - waiting_since_;
    waiting_since_ = now;
    waiting_ += change;
  });
}

double NodeOutlet::full_seconds() const {
  const double now = options_.machine.now();
  return serial_([&] { return full_seconds_ + (waiting_ > 0 ? now - waiting_since_ : 0.0); });
}

std::optional<double> NodeOutlet::take(const tuner::Split& split, PoolContext& context) {
  const bool has_link = options_.machine.link_rate(options_.node) > 0;
  return has_link ? take_link(split, context) : take_place(split, context);
}

std::optional<double> NodeOutlet::take_link(const tuner::Split& split, PoolContext& context) {
  double room_since = split.ready;
  while (true) {
    const auto has_room = [this](const Link& link) { return link.splits < options_.link_splits; };
    if (!wait(link_, context, has_room)) return std::nullopt;
    // Another actor may have been faster.
    const bool is_on = link_.change([&](Link& link) {
      if (!has_room(link)) return false;
      ++link.splits;
      if (link.splits == options_.link_splits) room_since = std::max(room_since, link.left);
      return true;
    });
    if (is_on) break;
  }
  options_.machine.do_later(
      {.stage = tuner::WorkItem::kLink, .node = options_.node, .begin = room_since},
      [self = shared_from_this(), number = split.key](const tuner::WorkItem& work) {
        self->ask_place(number, work.end);
      });
  return room_since;
}

// A split that has crossed stays on the node until it has a place.
void NodeOutlet::ask_place(std::uint64_t number, double at) {
  options_.trainer.ask_place(options_.node, at, [self = shared_from_this(), number](double since) {
    self->leave_link(number, since);
  });
}

void NodeOutlet::leave_link(std::uint64_t number, double since) {
  link_.change([since](Link& link) {
    --link.splits;
    link.left = since;
  });
  tell_made(number, since);
}

void NodeOutlet::tell_made(std::uint64_t number, double since) {
  calls_([&] {
    if (closed_) return;
    options_.on_made({.key = number, .node = options_.node, .ready = since});
    options_.on_move();
  });
}

void NodeOutlet::close() {
  calls_([this] { closed_ = true; });
}

std::optional<double> NodeOutlet::take_place(const tuner::Split& split, PoolContext& context) {
  const auto place = std::make_shared<Synchronized<std::optional<double>>>();
  options_.trainer.ask_place(options_.node, split.ready, [place](double since) {
    place->change([since](std::optional<double>& at) { at = since; });
  });
  const auto is_given = [](const std::optional<double>& at) { return at.has_value(); };
  if (!wait(*place, context, is_given)) return std::nullopt;
  const double since = *place->change([](const std::optional<double>& at) { return at; });
  tell_made(split.key, since);
  return since;
}

std::uint32_t NodeOutlet::queued() const {
  if (options_.trainers) return options_.trainer.queued();
  return link_.change([](const Link& link) { return link.splits; });
}

std::uint32_t NodeOutlet::limit() const {
  return options_.trainers ? options_.trainer.prefetch() : options_.link_splits;
}

void NodeOutlet::set_prefetch(std::uint32_t splits) {
  if (options_.trainers) options_.trainer.set_prefetch(splits);
}

}  // namespace forebay
