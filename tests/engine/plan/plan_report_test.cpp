#include "engine/plan/plan_report.h"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

const Schema kSchema{{"a", "b"}, {{"c", 0}}};

TransformPlan compiled() {
  return *TransformPlan::compile(
      {{"fill", {"a"}, {}},
       {"log1p", {"a"}, {}},
       {"sigrid_hash", {"c"}, {{"max_value", std::int64_t{9}}, {"output", std::string("h")}}}},
      kSchema);
}

std::optional<double> first_cost(const TransformPlan& plan) {
  return plan.as_run().front().measured;
}

TEST_CASE("costs that a run has kept are those of the next run of the same plan",
          "[engine][plan_report]") {
  const test::TempDir folder;
  const std::string path = plan_costs_path(folder.path());
  TransformPlan before = compiled();
  before.recall(std::vector<double>(before.as_run().size(), 2.5));
  REQUIRE(keep_plan_costs(path, before));
  TransformPlan after = compiled();
  CHECK_FALSE(first_cost(after));
  recall_plan_costs(path, after);
  REQUIRE(first_cost(after));
  CHECK(*first_cost(after) == Approx(2.5));
}

TEST_CASE("costs of another plan, and damaged ones, are not taken", "[engine][plan_report]") {
  const test::TempDir folder;
  const std::string path = plan_costs_path(folder.path());
  TransformPlan before = compiled();
  before.recall(std::vector<double>(before.as_run().size(), 2.5));
  REQUIRE(keep_plan_costs(path, before));
  TransformPlan other = *TransformPlan::compile({{"log1p", {"b"}, {}}}, kSchema);
  recall_plan_costs(path, other);
  CHECK_FALSE(first_cost(other));
  const std::string text = folder.read("plan");
  for (const std::string& damage : {std::string(), std::string("forebay-plan 1\n"),
                                    text.substr(0, text.size() - 9), text + "more\n1\n"}) {
    folder.write("plan", damage);
    TransformPlan after = compiled();
    recall_plan_costs(path, after);
    CHECK_FALSE(first_cost(after));
  }
}

TEST_CASE("nothing is kept of a plan that has not been measured", "[engine][plan_report]") {
  const test::TempDir folder;
  const std::string path = plan_costs_path(folder.path());
  REQUIRE(keep_plan_costs(path, compiled()));
  CHECK_FALSE(std::ifstream(path).good());
}

TEST_CASE("a plan in JSON has the operators as written and as run", "[engine][plan_report]") {
  const auto json = nlohmann::json::parse(plan_json(compiled()).text());
  REQUIRE(json["as_written"].size() == 3);
  CHECK(json["as_written"][0]["op"] == "fill");
  CHECK(json["as_run"][0]["op"] == "fill, log1p");
  CHECK(json["as_run"][0]["operators"] == nlohmann::json({0, 1}));
  CHECK(json["as_run"][0]["columns"] == nlohmann::json({"a"}));
  CHECK(json["as_run"][0]["stage"] == "transform");
  CHECK(json["as_run"][0]["predicted_ns"].get<double>() > 0);
  CHECK(json["as_run"][0]["measured_ns"].is_null());
}

}  // namespace
}  // namespace forebay
