#include "tuner/sim/pipeline_model.h"

#include "tests/tuner/sim/models.h"
#include "tuner/allocation.h"

#include "tests/support/catch.h"

namespace forebay::tuner {

TEST_CASE("a layout counts every queue but the last as fixed", "[tuner][sim]") {
  PipelineModel model = line_of({stage("load", 0.1), stage("decode", 0.1), stage("udf", 0.1)});
  model.stages[0].bytes_out = 2'000'000;
  model.stages[2].bytes_out = 7'000'000;
  const PipelineDescription description = description_of(model);
  CHECK(description.fixed_bytes == 10'000'000 + 4 * 2'000'000 + 4 * 1'000'000);
  CHECK(description.prefetch_item_bytes == 7'000'000);
  CHECK(description.default_prefetch == 4);
  CHECK(description.max_prefetch == 141);  // (1000 - 10) / 7
  CHECK(description.stages[1].name == "decode");
  CHECK(description.stages[1].max_actors == 128);
}

TEST_CASE("a prefetch of the file never exceeds the bound", "[tuner][sim]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.prefetch_splits = 5000;
  CHECK(description_of(model).max_prefetch == 5000);
}

TEST_CASE("a model at a moment has the events up to it, factors of the file's seconds",
          "[tuner][sim]") {
  PipelineModel model = line_of({stage("load", 0.1), stage("udf", 0.2)});
  model.events = {{.at_seconds = 10, .stage = 1, .seconds_factor = 4.0},
                  {.at_seconds = 20, .stage = 1, .seconds_factor = 2.0, .max_rate = 5.0},
                  {.at_seconds = 30, .cpus = 3.0, .memory_bytes = 7, .trainer_step_seconds = 0.5}};
  CHECK(model_at(model, 9.9).stages[1].seconds == 0.2);
  CHECK(model_at(model, 10).stages[1].seconds == 0.8);
  CHECK(model_at(model, 20).stages[1].seconds == 0.4);  // Not 0.2 · 4 · 2.
  CHECK(model_at(model, 20).stages[1].max_rate == 5);
  CHECK(model_at(model, 20).cpus == 8);
  const PipelineModel last = model_at(model, 1000);
  CHECK(last.cpus == 3);
  CHECK(last.memory_bytes == 7);
  CHECK(last.trainer_step_seconds == 0.5);
  CHECK(last.stages[0].seconds == 0.1);
  CHECK(last.events.empty());
}

TEST_CASE("the bottleneck share is of work on a CPU", "[tuner][sim]") {
  PipelineModel model = line_of({stage("read", 1.0), stage("udf", 0.3)});
  model.stages[0].cpu = 0.1;
  CHECK(bottleneck_share(model) == Approx(0.75));  // 0.3 of 0.1 + 0.3
  CHECK(trainer_rate_of(model) == 10'000);
}

}  // namespace forebay::tuner
