#include "trainer/module.h"

#include <string>

#include <stdlib.h>

#include "tests/support/catch.h"

using namespace forebay;

namespace {

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

TEST_CASE("the module that trains is found in the build tree and makes a model",
          "[trainer][module]") {
  TrainerSpec spec;
  spec.threads = 1;
  auto shape = shape_of(spec, {.dense = {"a"}, .sparse = {{"b", 10}}});
  REQUIRE(shape);
  auto model = make_model(spec, *shape);
  REQUIRE(model);
  CHECK((*model)->learns());
  CHECK((*model)->snapshot().value()->tensors().front().name == "bottom.0.weight");
  CHECK((*open_trainer())->torch_version[0] != '\0');
}

TEST_CASE("a model that does not learn needs no module", "[trainer][module]") {
  TrainerSpec spec;
  spec.model = TrainerSpec::ModelKind::kNone;
  auto model = make_model(spec, {});
  REQUIRE(model);
  CHECK_FALSE((*model)->learns());
}

TEST_CASE("a missing device is refused in one line, by its key", "[trainer][module]") {
  TrainerSpec spec;
  spec.threads = 1;
  spec.device = GENERATE("abacus", "cuda:one", "cuda:99");
  auto shape = shape_of(spec, {.dense = {"a"}, .sparse = {}});
  auto model = make_model(spec, shape.value());
  REQUIRE_FALSE(model);
  CHECK(model.error().message.find('\n') == std::string::npos);
  CHECK(model.error().message.starts_with("trainer.device is " + spec.device + ", but "));
}

TEST_CASE("the model's threads spin briefly before they sleep, unless the user chose how they wait",
          "[trainer][module]") {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) unsetenv(name);
  SECTION("by default") {
    REQUIRE(open_trainer());
    CHECK(variable("OMP_WAIT_POLICY") == "passive");
    CHECK(variable("GOMP_SPINCOUNT") == "3000");
  }
  SECTION("with a policy") {
    setenv("OMP_WAIT_POLICY", "active", 1);
    REQUIRE(open_trainer());
    CHECK(variable("OMP_WAIT_POLICY") == "active");
    CHECK(variable("GOMP_SPINCOUNT").empty());
  }
  SECTION("with a count") {
    setenv("GOMP_SPINCOUNT", "7", 1);
    REQUIRE(open_trainer());
    CHECK(variable("GOMP_SPINCOUNT") == "7");
  }
}
