#include "engine/metrics/stage_view.h"

#include <algorithm>

namespace forebay {
namespace {

double share(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(whole.count())
                           : 0;
}

StageView view_of(const ActorTotals& before, const StageStats& stage) {
  const ActorTotals& now = stage.pool.totals;
  const auto busy = now.busy - before.busy;
  const auto input = now.wait_input - before.wait_input;
  const auto output = now.wait_output - before.wait_output;
  const auto lived = busy + input + output;
  StageView view;
  view.name = stage.name;
  view.actors = stage.pool.actors;
  view.busy_share = share(busy, lived);
  view.wait_input_share = share(input, lived);
  view.wait_output_share = share(output, lived);
  const Service& done = now.done;
  const auto finished = done.time - before.done.time;
  const auto ready = done.ready - before.done.ready;
  view.ready_share = view.busy_share * share(ready, finished);
  // A stage that waits for a CPU waits for no disk. What an actor has not finished counts as busy,
  // but how long it was ready is known only of what it has finished.
  view.cpu_share =
      std::min(1.0, finished.count() > 0 ? share(done.cpu - before.done.cpu + ready, finished)
                                         : share(now.cpu - before.cpu, busy));
  view.queued = stage.pool.queued_messages;
  view.splits = now.messages - before.messages;
  view.bytes = now.bytes - before.bytes;
  return view;
}

}  // namespace

std::vector<StageView> stage_views(const PipelineStats& before, const PipelineStats& now) {
  std::vector<StageView> views;
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const ActorTotals then = before.stages.empty() ? ActorTotals() : before.stages[i].pool.totals;
    views.push_back(view_of(then, now.stages[i]));
  }
  return views;
}

}  // namespace forebay
