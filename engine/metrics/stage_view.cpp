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
  const auto ready = now.done.ready - before.done.ready;
  view.ready_share = share(ready, lived);
  // A stage that waits for a CPU waits for no disk.
  view.cpu_share = std::min(1.0, share(now.cpu - before.cpu + ready, busy));
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
