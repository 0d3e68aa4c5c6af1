#include <string>

#include "trainer/evaluation/evaluations.h"
#include "trainer/model_description.h"
#include "trainer/saving/manifest.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("a text that is nested without end is damaged, not the end of the process",
          "[trainer][saving]") {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  CHECK_FALSE(parse_manifest("{\"digest\":" + deep + "}", "manifest.json"));
  CHECK_FALSE(parse_model("{\"version\":1,\"model\":" + deep + "}", "model.json"));
  CHECK_FALSE(parse_evaluations("{\"version\":1,\"evaluations\":" + deep + "}"));
}
