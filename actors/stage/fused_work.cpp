#include "actors/stage/fused_work.h"

#include <algorithm>

namespace forebay {
namespace {

/// An actor that works for another stage of its group is shown there.
void move_views(const FusedWork::Sums& sums, std::vector<StageStats>& stages) {
  for (const auto& [actor, place] : sums.places) {
    auto& views = stages[actor.first].pool.each;
    const auto view = std::ranges::find(views, actor.second, &PoolActorView::number);
    if (place.stage == actor.first || view == views.end()) continue;
    if (view->state != ActorState::kBusy) continue;
    PoolActorView moved = *view;
    moved.since = place.since;
    views.erase(view);
    stages[place.stage].pool.each.push_back(moved);
  }
}

/// The counters of a stage that an actor did for one split.
ActorTotals totals_of(const FusedWork::Done& done, FusedWork::Time waited) {
  return {.busy = done.service.time,
          .cpu = done.service.cpu,
          .wait_input = waited,
          .messages = 1,
          .bytes = done.bytes,
          .done = done.service};
}

}  // namespace

void FusedWork::enter(std::size_t first, std::uint32_t number, std::size_t stage, Time now) {
  serial_([&] { places_[{first, number}] = {stage, now}; });
}

void FusedWork::leave(std::size_t first, std::uint32_t number) {
  serial_([&] { places_.erase({first, number}); });
}

void FusedWork::add(std::size_t first, std::uint32_t number, const std::vector<Done>& done,
                    Time waited) {
  Time all{0};
  for (const Done& each : done) all += each.service.time;
  serial_([&] {
    places_.erase({first, number});
    stages_[first].wait_input += all - done.front().service.time;
    for (std::size_t i = 1; i < done.size(); ++i) {
      stages_[first + i] += totals_of(done[i], waited + all - done[i].service.time);
      taken_[first].busy += done[i].service.time;
      taken_[first].cpu += done[i].service.cpu;
    }
  });
}

FusedWork::Sums FusedWork::sums() const {
  return serial_(
      [this]() -> Sums { return {.stages = stages_, .taken = taken_, .places = places_}; });
}

void FusedWork::attribute(const Sums& sums, const StageGroups& groups,
                          std::vector<StageStats>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ActorTotals& totals = stages[i].pool.totals;
    totals += sums.stages[i];
    totals.busy -= sums.taken[i].busy;
    totals.cpu -= std::min(totals.cpu, sums.taken[i].cpu);
    const PoolStats& actors = stages[groups.first(i)].pool;
    stages[i].pool.actors = actors.actors;
    stages[i].pool.retiring = actors.retiring;
  }
  move_views(sums, stages);
}

}  // namespace forebay
