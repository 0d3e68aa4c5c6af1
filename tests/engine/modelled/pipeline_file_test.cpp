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
const std::string kNode = "[[node]]\nname = \"n1\"\ncpus = 4\nmemory_bytes = 1000000\n";
const std::string kOther = "[[node]]\nname = \"n2\"\ncpus = 2\nmemory_bytes = 1000000\n";
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
       "p.toml, line 18: unknown key event.cpus = 2; known here: at_seconds, over_seconds, stage, "
       "seconds_factor, max_rate"},
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

TEST_CASE("large whole numbers are read up to their bound", "[tools][modelled]") {
  const auto with_memory = [](const std::string& bytes) {
    return kTop + kTrainer + kStage + "[[node]]\nname = \"n1\"\ncpus = 4\nmemory_bytes = " + bytes +
           "\ntrainer = true\n";
  };
  for (const char* bytes : {"9007199254740993", "1152921504606846976"}) {
    const auto model = parse_pipeline(with_memory(bytes), "p.toml");
    REQUIRE(model);
    CHECK(std::to_string(model->nodes[0].memory_bytes) == bytes);
  }
  CHECK(
      refusal_of(with_memory("1152921504606846977")) ==
      "p.toml, line 18: node.memory_bytes is 1152921504606846977, but must be a whole number from "
      "1 to 1152921504606846976");
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

TEST_CASE("a world reads its sections, and is written back the same", "[tools][modelled]") {
  const std::string text = kTop + kTrainer + "pause = { every = 60.0, seconds = 3 }\n" + kStage +
                           "uses = { dram = 8.0, \"n f s\" = 2 }\n"
                           "tail = { share = 0.01, shape = 1.5 }\nstart_seconds = 5.0\n"
                           "ordered = true\n" +
                           kNode + "seconds_factor = 1.5\ntrainer = true\n" + kOther +
                           "link_rate = 1.25e9\n[[resource]]\nname = \"dram\"\nrate = 40\n"
                           "node = \"n1\"\n[[resource]]\nname = \"n f s\"\nrate = 3.5\n" +
                           "[[event]]\nat_seconds = 3\nover_seconds = 2\nresource = \"dram\"\n"
                           "rate = 4\n[[event]]\nat_seconds = 4\nnode = \"n2\"\npresent = false\n";
  const auto model = parse_pipeline(text, "p.toml");
  INFO(refusal_of(text));
  REQUIRE(model);
  CHECK(tuner::is_world(*model));
  CHECK(model->pause == tuner::PauseModel{60, 3});
  CHECK(model->stages[0].uses == std::vector<tuner::ResourceUse>{{"dram", 8}, {"n f s", 2}});
  CHECK(model->stages[0].tail == tuner::TailModel{0.01, 1.5});
  CHECK(model->stages[0].start_seconds == 5);
  CHECK(model->stages[0].ordered);
  REQUIRE(model->nodes.size() == 2);
  CHECK(model->nodes[0].seconds_factor == 1.5);
  CHECK(model->nodes[0].trainer);
  CHECK(model->nodes[1].link_rate == 1.25e9);
  CHECK(model->resources[0].node == std::size_t{0});
  CHECK_FALSE(model->resources[1].node.has_value());
  CHECK(model->events[0].rate == 4.0);
  CHECK(model->events[0].over_seconds == 2);
  CHECK(model->events[1].node == std::size_t{1});
  CHECK(model->events[1].present == false);
  const std::string written = pipeline_text(*model);
  const auto again = parse_pipeline(written, "p.toml");
  INFO(written);
  REQUIRE(again);
  CHECK(pipeline_text(*again) == written);
}

TEST_CASE("what a world names must be there", "[tools][modelled]") {
  const std::string disk = "[[resource]]\nname = \"disk\"\nrate = 4\n";
  const std::string event = "[[event]]\nat_seconds = 1\n";
  const std::pair<std::string, std::string> refusals[] = {
      {kWhole + "uses = { disc = 1 }\n" + disk,
       "p.toml, line 15: stage.uses is \"disc\", which no resource is called; did you mean disk?"},
      {kWhole + "uses = { disk = -1 }\n" + disk,
       "p.toml, line 15: stage.uses.disk is -1, but must be a number from 0 to 1e+15"},
      {kWhole + "uses = 3\n", "p.toml, line 15: stage.uses must be a table: { name = value, … }"},
      {kWhole + "tail = { share = 0.1 }\n", "p.toml, line 15: stage.tail.shape is missing"},
      {kWhole + "ordered = true\n[[stage]]\nname = \"b\"\nseconds = 1\nbytes_per_actor = 0\n"
                "bytes_out = 0\n",
       "p.toml, line 16: stage.ordered is true for \"load\", but only the last stage may be "
       "ordered"},
      {kTop + kTrainer + "pause = { every = 3, seconds = 3 }\n" + kStage,
       "p.toml, line 10: trainer.pause.seconds is 3, but must be less than every = 3"},
      {kWhole + "[[node]]\nname = \"n1\"\nmemory_bytes = 1000000\ntrainer = true\n",
       "p.toml, line 15: node.cpus is missing; it must be a number from 1 to 65536"},
      {kWhole + "[[node]]\nname = \"n1\"\ncpus = 0\nmemory_bytes = 1000000\ntrainer = true\n",
       "p.toml, line 17: node.cpus is 0, but must be a number from 1 to 65536"},
      {kWhole + kNode, "p.toml: has 0 [[node]] with trainer = true, but must have exactly one"},
      {kWhole + kNode + "trainer = true\n" + kNode,
       "p.toml, line 20: node.name is \"n1\", but an earlier node has that name; rename one"},
      {kWhole + disk + "node = \"n1\"\n",
       "p.toml, line 15: resource.node is \"n1\", which no node is called"},
      {kWhole + disk + disk,
       "p.toml, line 18: resource.name is \"disk\", but an earlier resource of the same nodes has "
       "that name; rename one"},
      {kWhole + event + "resource = \"disk\"\nrate = 3\n",
       "p.toml, line 15: event.resource is \"disk\", which no resource is called"},
      {kWhole + event + "node = \"n1\"\ncpus = 3\n",
       "p.toml, line 15: event.node is \"n1\", which no node is called"},
      {kWhole + kNode + "trainer = true\n" + event + "node = \"n1\"\npresent = false\n",
       "p.toml, line 20: event.present is false for \"n1\", but the trainer's own node cannot be "
       "lost"},
      {kWhole + kNode + "trainer = true\n" + event + "node = \"n1\"\npresent = 0\n",
       "p.toml, line 23: event.present is 0, but must be true or false"},
      {kWhole + kNode + "trainer = true\n" + kOther + event +
           "node = \"n2\"\npresent = false\nover_seconds = 3\n",
       "p.toml, line 24: event.over_seconds is 3, but event.present changes at once: leave one of "
       "the two out"},
      {kWhole + event + "over_seconds = 3\n", "p.toml, line 15: event changes nothing"},
      {kWhole + "[[node]]\nname = \"n1\"\ncpus = 1\nmemory_bytes = 1100\ntrainer = true\n",
       "p.toml: node.memory_bytes of node \"n1\" is 1100, but one actor a stage with full queues "
       "and a prefetch of 1 takes 1110 bytes"},
  };
  for (const auto& [text, refusal] : refusals) {
    INFO(text);
    CHECK(refusal_of(text).substr(0, refusal.size()) == refusal);
  }
}

TEST_CASE("a name that --allocation could not hold is refused", "[tools][modelled]") {
  const auto named = [](const std::string& name) {
    return kTop + kTrainer + "[[stage]]\nname = \"" + name +
           "\"\nseconds = 1\nbytes_per_actor = 0\nbytes_out = 0\n";
  };
  CHECK(refusal_of(named("a=1,b")) ==
        "p.toml, line 10: stage.name is \"a=1,b\", but must be without \"=\": --allocation could "
        "not name it");
  CHECK(refusal_of(named("a,b")).find("must be without \",\"") != std::string::npos);
  CHECK(refusal_of(named("x.b")).empty());
  CHECK(refusal_of(named("x.b") + kNode + "trainer = true\n") ==
        "p.toml, line 10: stage.name is \"x.b\", but must be without \".\": NODE.STAGE is the "
        "stage on one of the nodes");
  CHECK(refusal_of(kWhole + "[[node]]\nname = \"n=1\"\ncpus = 4\nmemory_bytes = 1000000\n") ==
        "p.toml, line 15: node.name is \"n=1\", but must be without \"=\": --allocation could not "
        "name it");
}

TEST_CASE("a limit on splits is none or more than next to nothing", "[tools][modelled]") {
  CHECK(refusal_of(kWhole + "max_rate = 0\n").empty());
  CHECK(refusal_of(kWhole + "max_rate = 1e-6\n").empty());
  CHECK(refusal_of(kWhole + "max_rate = 1e-320\n")
            .starts_with("p.toml, line 10: stage.max_rate is "));
  CHECK(refusal_of(kWhole + "[[event]]\nat_seconds = 1\nstage = \"load\"\nmax_rate = 1e-9\n") ==
        "p.toml, line 15: event.max_rate is 1e-09, but must be 0 (no limit) or at least 1e-06");
}

TEST_CASE("an allocation names nodes, or is for all of them", "[tools][modelled]") {
  const auto model = parse_pipeline(kWhole + kNode + "trainer = true\n" + kOther, "p.toml");
  REQUIRE(model);
  const auto actors = [&](const char* text) { return parse_allocation(text, *model)->actors; };
  CHECK(actors("load=3") == std::vector<std::uint32_t>{3, 3});
  CHECK(actors("n2.load=5,load=3") == std::vector<std::uint32_t>{3, 5});
  CHECK(actors("n1.load=4") == std::vector<std::uint32_t>{4, 1});
  CHECK(parse_allocation("n3.load=4", *model)
            .error()
            .message.starts_with("--allocation n3.load: no such stage; did you mean load? (stages: "
                                 "load, n1.load, n2.load)"));
  CHECK(parse_allocation("n1.load=129", *model).error().message ==
        "--allocation n1.load=129: must be a whole number from 1 to 128");
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
