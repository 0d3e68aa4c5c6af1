// The thirteen modelled pipelines of tests/tuner/pipelines, compared with EXPECTED.json.

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "engine/modelled/pipeline_file.h"
#include "tests/tuner/policy/worked.h"
#include "tuner/policy/adaptive.h"
#include "tuner/sim/pipeline_model.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

const std::filesystem::path kFolder = FOREBAY_PIPELINES;

// A phase between events: the model then, and its expected figures.
struct Phase {
  std::string name;
  PipelineModel model;
  nlohmann::json expected;
};

std::vector<Phase> phases() {
  std::ifstream file(kFolder / "EXPECTED.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  std::vector<Phase> all;
  for (const auto& [path, pipeline] : expected.at("pipelines").items()) {
    const std::string name = std::filesystem::path(path).filename();
    const PipelineModel model = load_pipeline(kFolder / name).value();
    for (const nlohmann::json& phase : pipeline.at("phases")) {
      const double at = phase.at("at_seconds");
      all.push_back({name + " at " + std::to_string(at), model_at(model, at), phase});
    }
  }
  return all;
}

Allocation expected_allocation(const Phase& phase, const char* kind) {
  const nlohmann::json& what = phase.expected.at(kind);
  Allocation allocation{.actors = {}, .prefetch = what.at("prefetch_splits")};
  for (const StageModel& stage : phase.model.stages) {
    allocation.actors.push_back(what.at("allocation").at(stage.name));
  }
  return allocation;
}

PolicyContext context_of(const Phase& phase) {
  PolicyContext context;
  context.description = description_of(phase.model);
  context.limits = {phase.model.cpus, phase.model.memory_bytes};
  context.truth = [&phase] {
    return Truth{.costs = costs_of(phase.model), .trainer_rate = trainer_rate_of(phase.model)};
  };
  return context;
}

// The policy's answer to an exact, noise-free interval with one actor a stage.
Allocation answer(const char* policy, const Phase& phase) {
  return first_answer(policy, context_of(phase), costs_of(phase.model),
                      phase.model.trainer_step_seconds);
}

TEST_CASE("one, even and max are those of the file, in every phase", "[tuner][policy]") {
  const std::vector<Phase> all = phases();
  REQUIRE(all.size() == 21);
  for (const Phase& phase : all) {
    INFO(phase.name);
    CHECK(answer("one", phase) == expected_allocation(phase, "one"));
    CHECK(answer("even", phase) == expected_allocation(phase, "even"));
    CHECK(answer("max", phase) == expected_allocation(phase, "max"));
  }
}

TEST_CASE("the oracle's actors are those of the file, in every phase", "[tuner][policy]") {
  for (const Phase& phase : phases()) {
    INFO(phase.name);
    const Allocation oracle = answer("oracle", phase);
    CHECK(oracle.actors == expected_allocation(phase, "oracle").actors);
    const std::uint32_t largest = phase.expected.at("oracle").at("largest_prefetch");
    CHECK(oracle.prefetch == std::min(phase.model.prefetch_splits, largest));
  }
}

TEST_CASE("with exact costs greedy is greedy_stop, in every phase", "[tuner][policy]") {
  for (const Phase& phase : phases()) {
    INFO(phase.name);
    const PlanLimits limits{.limits = {phase.model.cpus, phase.model.memory_bytes},
                            .trainer_rate = trainer_rate_of(phase.model)};
    const Plan plan = greedy_allocation(description_of(phase.model), costs_of(phase.model), limits);
    CHECK(plan.allocation == expected_allocation(phase, "greedy_stop"));
  }
}

TEST_CASE("greedy is greedy_stop at its first decision where stages scale linearly",
          "[tuner][policy]") {
  int linear = 0;
  for (const Phase& phase : phases()) {
    const auto bends = [](const StageModel& stage) {
      return stage.alpha > 0 || stage.beta > 0 || stage.max_rate > 0;
    };
    const auto& stages = phase.model.stages;
    if (std::any_of(stages.begin(), stages.end(), bends)) continue;
    INFO(phase.name);
    ++linear;
    CHECK(answer("greedy", phase) == expected_allocation(phase, "greedy_stop"));
  }
  CHECK(linear == 16);  // all but contended, io-wait and the three of storage-slowdown
}

}  // namespace
}  // namespace forebay::tuner
