#include "engine/modelled/simulation.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// One stage on 8 CPUs, whose actors take 1000 of so many bytes each.
tuner::PipelineModel one_stage(std::uint64_t memory_bytes) {
  tuner::PipelineModel model;
  model.cpus = 8;
  model.memory_bytes = memory_bytes;
  model.trainer_step_seconds = 0.001;
  model.stages = {{{.seconds = 0.05}, "load"}};
  model.stages[0].bytes_per_actor = 1000;
  return model;
}

TEST_CASE("the oracle's allocation is of the machine that the run begins on", "[tools][modelled]") {
  tuner::PipelineModel model = one_stage(8000);
  CHECK(oracle_allocation(model).actors == std::vector<std::uint32_t>{8});
  model.events = {{.at_seconds = 0, .memory_bytes = 4000},
                  {.at_seconds = 50, .memory_bytes = 8000}};
  CHECK(oracle_allocation(model).actors == std::vector<std::uint32_t>{4});
  const ModelledFigures figures =
      simulate(model, oracle_allocation(model), 40, 1, {.stop = [] { return false; }});
  CHECK_FALSE(figures.out_of_memory);
  CHECK(figures.ratio().value() == Catch::Detail::Approx(1).epsilon(0.01));
}

TEST_CASE("a world is not compared with what a search had found when it was stopped",
          "[tools][modelled]") {
  tuner::PipelineModel model = one_stage(8000);
  model.stages[0].uses = {{"disk", 1}};
  model.resources = {{.name = "disk", .rate = 40}};
  const auto run = [&](bool cut_short) {
    return simulate(model, {.actors = {4}}, 10, 1,
                    {.find_best =
                         [&](const tuner::PipelineModel&) {
                           return tuner::BestKnown{.splits_per_second = 40, .cut_short = cut_short};
                         },
                     .stop = [] { return false; }});
  };
  const std::string whole = json_of(run(false), model).text();
  CHECK(whole.find("\"oracle_splits_per_second\":40") != std::string::npos);
  CHECK(whole.find("\"best_known\":true") != std::string::npos);
  const std::string stopped = json_of(run(true), model).text();
  CHECK(stopped.find("\"oracle_splits_per_second\":null,\"ratio\":null") != std::string::npos);
  CHECK(stopped.find("best_known") == std::string::npos);
}

TEST_CASE("the bottleneck's share is of the work that the run begins with", "[tools][modelled]") {
  tuner::PipelineModel model = one_stage(8000);
  model.stages.push_back(model.stages.front());
  model.stages.back().name = "udf";
  model.events = {{.at_seconds = 0, .stage = 1, .seconds_factor = 3}};
  const auto figures =
      simulate(model, oracle_allocation(model), 10, 1, {.stop = [] { return false; }});
  CHECK(json_of(figures, model).text().find("\"bottleneck_share\":0.75") != std::string::npos);
}

}  // namespace
}  // namespace forebay
