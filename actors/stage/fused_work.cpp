#include "actors/stage/fused_work.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace forebay {
namespace {

/// An actor that works for another stage of its group is shown there.
void move_views(const FusedWork::Sums& sums, std::vector<StageStats>& stages) {
  for (const auto& [actor, place] : sums.places) {
    auto& views = stages[actor.first].pool.each;
    const auto view = std::ranges::find(views, actor.number, &PoolActorView::number);
    if (place.stage == actor.first || view == views.end()) continue;
    if (view->state != ActorState::kBusy) continue;
    PoolActorView moved = *view;
    moved.since = place.since;
    views.erase(view);
    stages[place.stage].pool.each.push_back(moved);
  }
}

std::optional<clockid_t> cpu_clock_of_this_thread() {
  clockid_t clock{};
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return std::nullopt;
  return clock;
}

}  // namespace

FusedWork::FusedWork(std::size_t stages, const Clock& clock, CpuOf cpu_of)
    : clock_(clock),
      cpu_of_(std::move(cpu_of)),
      sums_{.stages = std::vector<ActorTotals>(stages), .taken = std::vector<ActorTotals>(stages)},
      shown_(stages) {}

void FusedWork::begin(ActorId actor, std::size_t end, Time waited) {
  const auto cpu_clock = cpu_clock_of_this_thread();
  serial_([&] {
    for (std::size_t i = actor.first + 1; i < end; ++i) sums_.stages[i].wait_input += waited;
    sums_.places[actor] = {
        .stage = actor.first, .since = clock_.now(), .end = end, .cpu_clock = cpu_clock};
  });
}

void FusedWork::enter(ActorId actor, std::size_t stage) {
  serial_([&] {
    Sums::Place& place = sums_.places.at(actor);
    charge(sums_, actor, place);
    place.stage = stage;
    place.since = clock_.now();
    place.cpu = cpu_at(place);
  });
}

void FusedWork::finish(ActorId actor, const std::vector<Done>& done) {
  serial_([&] {
    close(actor);
    for (std::size_t i = 1; i < done.size(); ++i) {
      ActorTotals& totals = sums_.stages[actor.first + i];
      ++totals.messages;
      totals.bytes += done[i].bytes;
      totals.done += done[i].service;
    }
  });
}

void FusedWork::leave(ActorId actor) {
  serial_([&] { close(actor); });
}

void FusedWork::close(ActorId actor) {
  const auto found = sums_.places.find(actor);
  if (found == sums_.places.end()) return;
  charge(sums_, actor, found->second);
  sums_.places.erase(found);
}

FusedWork::Time FusedWork::cpu_at(const Sums::Place& place) const {
  return place.cpu_clock ? cpu_of_(*place.cpu_clock) : Time(0);
}

/// Adds the time that the actor has spent at its place so far. The clocks are read under the lock:
/// a later reading is a later time.
void FusedWork::charge(Sums& sums, ActorId actor, const Sums::Place& place) const {
  const Time time = clock_.now() - place.since;
  for (std::size_t i = actor.first; i < place.end; ++i) {
    if (i != place.stage) sums.stages[i].wait_input += time;
  }
  if (place.stage == actor.first) return;
  const Time cpu = cpu_at(place) - place.cpu;
  for (ActorTotals* totals : {&sums.stages[place.stage], &sums.taken[actor.first]}) {
    totals->busy += time;
    totals->cpu += cpu;
  }
}

FusedWork::Sums FusedWork::sums() const {
  return serial_([this]() -> Sums {
    Sums sums = sums_;
    for (const auto& [actor, place] : sums_.places) charge(sums, actor, place);
    return sums;
  });
}

// A pool is read a little later than the sums, by a time that varies: without the times shown last,
// the difference of the two would fall by that.
void FusedWork::attribute(const Sums& sums, const StageGroups& groups,
                          std::vector<StageStats>& stages) const {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ActorTotals& totals = stages[i].pool.totals;
    totals += sums.stages[i];
    totals.busy -= sums.taken[i].busy;
    totals.cpu -= sums.taken[i].cpu;
    serial_([&] {
      totals.busy = shown_[i].busy = std::max(shown_[i].busy, totals.busy);
      totals.cpu = shown_[i].cpu = std::max(shown_[i].cpu, totals.cpu);
    });
    const PoolStats& actors = stages[groups.first(i)].pool;
    stages[i].pool.actors = actors.actors;
    stages[i].pool.retiring = actors.retiring;
  }
  move_views(sums, stages);
}

}  // namespace forebay
