#include "engine/modelled/pipeline_file.h"

#include <string>

#include "engine/modelled/simulation.h"
#include "tuner/sim/random_pipeline.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

const std::string kTop =
    "name = \"p\"\ncpus = 4\nmemory_bytes = 1000000\nbase_bytes = 1000\nrows_per_split = 10\n"
    "queue_splits = 2\n";
const std::string kTrainer = "[trainer]\nstep_seconds = 0.5\nprefetch_splits = 3\n";
const std::string kStage =
    "[[stage]]\nname = \"load\"\nseconds = 0.05\nbytes_per_actor = 100\nbytes_out = 10\n";
const std::string kWhole = kTop + kTrainer + kStage;

std::string refusal_of(const std::string& text) {
  const auto parsed = parse_pipeline(text, "p.toml");
  return parsed ? "" : parsed.error().message;
}

}  // namespace

TEST_CASE("a key missing from a file has its default", "[tools][modelled]") {
  const auto model = parse_pipeline(kWhole, "p.toml");
  REQUIRE(model);
  CHECK(model->cpus == 4);
  CHECK(model->trainer_step_seconds == 0.5);
  CHECK(model->prefetch_splits == 3);
  REQUIRE(model->stages.size() == 1);
  CHECK(model->stages[0].seconds == 0.05);
  CHECK(model->stages[0].cpu == 1);
  CHECK(model->stages[0].noise == 0);
  CHECK(model->stages[0].max_rate == 0);
  CHECK(model->stages[0].max_actors == 128);
}

TEST_CASE("a refusal names file, line, key, value and the expected value", "[tools][modelled]") {
  const std::pair<std::string, std::string> refusals[] = {
      {kWhole + "cpu = 1.5\n",
       "p.toml, line 15: stage.cpu is 1.5, but must be a number from 0 to 1"},
      {kWhole + "nois = 0.5\n",
       "p.toml, line 15: unknown key stage.nois = 0.5; did you mean noise?"},
      {kWhole + "max_actors = 2.5\n",
       "p.toml, line 15: stage.max_actors is 2.5, but must be a whole number from 1 to 4096"},
      {kWhole + "alpha = nan\n",
       "p.toml, line 15: stage.alpha is nan, but must be a number from 0 to 10"},
      {kWhole + "alpha = \"x\"\n",
       "p.toml, line 15: stage.alpha is \"x\", but must be a number from 0 to 10"},
      {"cpu = 3\n" + kWhole, "p.toml, line 1: unknown key cpu = 3; did you mean cpus?"},
      {kWhole + "[extra]\n", "p.toml, line 15: unknown key extra = a table"},
      {kTop + kTrainer, "p.toml: has 0 [[stage]], but must have from 1 to 64"},
      {kTop + kStage, "p.toml: has no [trainer]"},
      {kTrainer + kStage,
       "p.toml: name is missing; it must be a name: text of 1 to 200 characters without control "
       "characters"},
      {kWhole + kStage,
       "p.toml, line 15: stage.name is \"load\", but an earlier stage has that name; rename one"},
      {kTop + "stage = 3\n" + kTrainer, "p.toml, line 7: stage must be tables: [[stage]]"},
      {kWhole + "[[event]]\nat_seconds = 1\nstage = \"lod\"\nmax_rate = 2\n",
       "p.toml, line 15: event.stage is \"lod\", which no stage is called; did you mean load?"},
      {kWhole + "[[event]]\nat_seconds = 1\n",
       "p.toml, line 15: event changes nothing; give it cpus, memory_bytes or "
       "trainer_step_seconds, or a stage"},
      {kWhole + "[[event]]\nat_seconds = 1\nstage = \"load\"\ncpus = 2\n",
       "p.toml, line 18: unknown key event.cpus = 2"},
      {kWhole + "[[event]]\nat_seconds = 1\nmemory_bytes = 1109\n",
       "p.toml: event.memory_bytes is 1109, but one actor a stage with full queues and a prefetch "
       "of 1 takes 1110 bytes"},
      {kWhole + "[[$event]]\n", "p.toml, line 15, column 3: not valid TOML: "},
      {"name = 1 2", "p.toml, line 1, column 10: not valid TOML: "},
  };
  for (const auto& [text, refusal] : refusals) {
    INFO(text);
    CHECK(refusal_of(text).substr(0, refusal.size()) == refusal);
  }
}

TEST_CASE("events are put in the order of their time", "[tools][modelled]") {
  const auto model = parse_pipeline(kWhole +
                                        "[[event]]\nat_seconds = 9\ncpus = 2\n[[event]]\n"
                                        "at_seconds = 4.5\nstage = \"load\"\nseconds_factor = 2\n",
                                    "p.toml");
  REQUIRE(model);
  REQUIRE(model->events.size() == 2);
  CHECK(model->events[0].at_seconds == 4.5);
  CHECK(model->events[0].stage == std::size_t{0});
  CHECK(model->events[0].seconds_factor == 2.0);
  CHECK_FALSE(model->events[1].stage.has_value());
  CHECK(model->events[1].cpus == 2.0);
}

TEST_CASE("a pipeline that was written reads back the same to the bit", "[tools][modelled]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto model = tuner::random_pipeline(seed, {.events = true});
    model.name = "a \"quoted\" \\ name";
    const std::string text = pipeline_text(model);
    const auto read = parse_pipeline(text, "p.toml");
    INFO(text << refusal_of(text));
    REQUIRE(read);
    CHECK(pipeline_text(*read) == text);
    CHECK(read->name == model.name);
    CHECK(read->stages[1].seconds == model.stages[1].seconds);
    CHECK(read->trainer_step_seconds == model.trainer_step_seconds);
    CHECK(read->events.size() == model.events.size());
  }
}

TEST_CASE("an allocation is read by the stages' names", "[tools][modelled]") {
  tuner::PipelineDescription description;
  description.stages = {{.name = "load"}, {.name = "udf", .max_actors = 4}};
  description.default_prefetch = 7;
  const auto read = parse_allocation("udf=3", description);
  REQUIRE(read);
  CHECK(read->actors == std::vector<std::uint32_t>{1, 3});
  CHECK(read->prefetch == 7);
  CHECK(parse_allocation("", description)->total_actors() == 2);
  const auto refusal = [&](const char* text) {
    return parse_allocation(text, description).error().message;
  };
  CHECK(refusal("udf=5") == "--allocation udf=5: must be a whole number from 1 to 4");
  CHECK(refusal("udf=0") == "--allocation udf=0: must be a whole number from 1 to 4");
  CHECK(refusal("ufd=1") ==
        "--allocation ufd: no such stage; did you mean udf? (stages: load, udf)");
  CHECK(refusal("udf=1,udf=2") == "--allocation udf=2: that stage is named twice");
  CHECK(refusal("best") == "--allocation best: must be STAGE=COUNT,…, or oracle");
}

}  // namespace forebay
