#include "engine/run/tuned_stages.h"

#include "tests/support/catch.h"

namespace forebay {

using namespace std::chrono_literals;

TEST_CASE("an observation is the difference between two looks", "[tools][stage_observation]") {
  PoolStats before;
  before.totals.busy = 5s;
  before.totals.messages = 3;
  before.totals.done = {.time = 4s, .cpu = 1s, .ready = 1s, .squared_seconds = 3, .actors = 3};
  PoolStats now;
  now.retiring = 2;
  now.totals.busy = 8s;
  now.totals.wait_input = 1s;
  now.totals.wait_output = 500ms;
  now.totals.cpu = 2s;
  now.totals.messages = 7;
  now.totals.done = {.time = 7s, .cpu = 3s, .ready = 1500ms, .squared_seconds = 5, .actors = 11};
  const tuner::StageObservation seen = observation_of(before, now);
  CHECK(seen.leaving == 2);
  CHECK(seen.working_seconds == 3);
  CHECK(seen.input_wait_seconds == 1);
  CHECK(seen.output_wait_seconds == 0.5);
  CHECK(seen.actor_seconds == 4.5);
  CHECK(seen.cpu_seconds == 2);
  CHECK(seen.done == 4);
  CHECK(seen.done_seconds == 3);
  CHECK(seen.done_seconds_squared == 2);
  CHECK(seen.done_cpu_seconds == 2);
  CHECK(seen.done_ready_seconds == 0.5);
  CHECK(seen.done_actors == 8);
}

TEST_CASE("the queue behind a stage is the next pool's mailbox, behind the last the window",
          "[tools][stage_observation]") {
  PipelineStats stats;
  stats.stages.resize(5);
  stats.stages[1].pool.mailbox_bytes = 100;
  stats.stages[1].pool.queued_bytes = 25;
  stats.stages[2].pool.mailbox_bytes = 100;
  stats.stages[2].pool.queued_bytes = 250;  // one large split, which an empty mailbox accepts
  stats.stages[4].pool.queued_bytes = 30;
  stats.window_capacity = 60;
  CHECK(fill_behind(stats, 0, 4) == 0.25);
  CHECK(fill_behind(stats, 1, 4) == 1);
  CHECK(fill_behind(stats, 3, 4) == 0.5);
  stats.stages.pop_back();
  CHECK(fill_behind(stats, 3, 4) == 0);  // a worker has no reorder buffer
}

}  // namespace forebay
