#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "engine/modelled/pipeline_file.h"
#include "engine/modelled/simulation.h"
#include "tuner/plan/plan.h"
#include "tuner/sim/pipeline_model.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using nlohmann::json;

const std::string kFolder = FOREBAY_PIPELINES;

/// Figures that an independent program computed from the files beside them (see its entry
/// `meaning`).
json expected() {
  std::ifstream file(kFolder + "/EXPECTED.json");
  return json::parse(file)["pipelines"];
}

tuner::PipelineModel load(const std::string& file) {
  auto model = load_pipeline(kFolder + "/" + file);
  REQUIRE(model);
  return std::move(*model);
}

tuner::Allocation allocation_of(const json& named, const tuner::PipelineModel& model,
                                std::uint32_t prefetch) {
  tuner::Allocation allocation{.actors = {}, .prefetch = prefetch};
  for (const auto& stage : model.stages) allocation.actors.push_back(named.at(stage.name));
  return allocation;
}

double rate_of(const tuner::PipelineModel& model, const tuner::Allocation& allocation) {
  return tuner::steady_rate(tuner::costs_of(model), allocation.actors, model.cpus,
                            tuner::trainer_rate_of(model));
}

ModelledFigures run(const tuner::PipelineModel& model, const tuner::Allocation& allocation,
                    double seconds) {
  return simulate(model, allocation, seconds, 1, {.stop = [] { return false; }});
}

}  // namespace

TEST_CASE("every phase of every file has its known oracle, limits and rates", "[tools][modelled]") {
  int phases = 0;
  const json files = expected();
  for (const auto& [file, entry] : files.items()) {
    const tuner::PipelineModel whole = load(file);
    CHECK(whole.name == entry.at("name"));
    for (const json& phase : entry.at("phases")) {
      ++phases;
      INFO(file << " at " << phase.at("at_seconds"));
      const auto model = tuner::model_at(whole, phase.at("at_seconds"));
      CHECK(model.cpus == phase.at("cpus"));
      CHECK(model.memory_bytes == phase.at("memory_bytes"));
      CHECK(tuner::bottleneck_share(model) ==
            Approx(phase.at("bottleneck_share").get<double>()).epsilon(1e-5));
      CHECK(tuner::trainer_rate_of(model) ==
            Approx(phase.at("trainer_splits_per_second").get<double>()));

      const json& oracle = phase.at("oracle");
      const tuner::Plan plan = tuner::oracle_of(model);
      CHECK(plan.splits_per_second ==
            Approx(oracle.at("splits_per_second").get<double>()).epsilon(1e-6));
      CHECK(plan.allocation.total_actors() == oracle.at("actors"));
      CHECK(plan.allocation.actors == allocation_of(oracle.at("allocation"), model, 1).actors);
      for (const char* name : {"oracle", "even", "one", "max", "greedy", "greedy_stop"}) {
        INFO(name);
        const json& other = phase.at(name);
        const auto allocation =
            allocation_of(other.at("allocation"), model, other.at("prefetch_splits"));
        CHECK(rate_of(model, allocation) ==
              Approx(other.at("splits_per_second").get<double>()).epsilon(1e-6));
        CHECK(tuner::worst_case_bytes(tuner::description_of(model), allocation) ==
              other.at("memory_worst_case_bytes"));
      }
    }
  }
  CHECK(phases == 21);
}

TEST_CASE("simulated throughput and peak memory are those of an independent event simulation",
          "[tools][modelled]") {
  const json files = expected();
  for (const auto& [file, entry] : files.items()) {
    const tuner::PipelineModel whole = load(file);
    for (const json& phase : entry.at("phases")) {
      INFO(file << " at " << phase.at("at_seconds"));
      auto model = tuner::model_at(whole, phase.at("at_seconds"));
      const json& oracle = phase.at("oracle_simulated");
      const double seconds = oracle.at("seconds");
      const auto best =
          allocation_of(phase.at("oracle").at("allocation"), model, oracle.at("prefetch_splits"));
      CHECK(oracle_allocation(model) == best);
      const ModelledFigures figures = run(model, best, seconds);
      CHECK(figures.splits_per_second() ==
            Approx(oracle.at("splits_per_second").get<double>()).epsilon(0.01));
      CHECK(figures.starved_ratio() ==
            Approx(oracle.at("trainer_wait_share").get<double>()).margin(0.01));
      // Stages exactly as fast as the trainer fill their queues by chance, so the peak is wide.
      const double within = file == "trainer-bound.toml" ? 0.09 : 0.02;
      CHECK(static_cast<double>(figures.peak_memory_bytes) ==
            Approx(oracle.at("memory_bytes_peak").get<double>()).epsilon(within));

      // The other allocations were also run where they do not fit.
      model.memory_bytes = std::uint64_t{1} << 50;
      const std::map<std::string, double> others = {{"even", phase.at("even_simulated")},
                                                    {"max", phase.at("max_simulated")}};
      for (const auto& [name, rate] : others) {
        INFO(name);
        const auto allocation =
            allocation_of(phase.at(name).at("allocation"), model, whole.prefetch_splits);
        CHECK(run(model, allocation, seconds).splits_per_second() == Approx(rate).epsilon(0.02));
      }
      const json& larger = phase.at("best_simulated");
      const auto allocation =
          allocation_of(larger.at("allocation"), model, larger.at("prefetch_splits"));
      CHECK(run(model, allocation, seconds).splits_per_second() ==
            Approx(larger.at("splits_per_second").get<double>()).epsilon(0.02));
    }
  }
}

TEST_CASE("without noise the oracle's allocation gives its known rate", "[tools][modelled]") {
  const json files = expected();
  for (const auto& [file, entry] : files.items()) {
    INFO(file);
    auto model = tuner::model_at(load(file), 0);
    for (auto& stage : model.stages) stage.noise = 0;
    const json& oracle = entry.at("phases")[0].at("oracle_simulated");
    CHECK(run(model, oracle_allocation(model), oracle.at("seconds")).splits_per_second() ==
          Approx(oracle.at("noise_free").get<double>()).epsilon(0.01));
  }
}

TEST_CASE("an oracle of many phases counts each by its time", "[tools][modelled]") {
  const tuner::PipelineModel model = load("drift.toml");  // 123.08 until 300 s, 64 until 900 s.
  const double fast = tuner::oracle_of(tuner::model_at(model, 0)).splits_per_second;
  const double slow = tuner::oracle_of(tuner::model_at(model, 300)).splits_per_second;
  CHECK(oracle_rate(model, 0, 300) == Approx(fast));
  CHECK(oracle_rate(model, 200, 500) == Approx((100 * fast + 200 * slow) / 300));
  CHECK(oracle_rate(model, 800, 1000) == Approx((fast + slow) / 2));
}

}  // namespace forebay
