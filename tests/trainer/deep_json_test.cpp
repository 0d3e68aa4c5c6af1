#include <string>

#include "trainer/evaluation/evaluation.h"
#include "trainer/model_description.h"
#include "trainer/saving/checkpoint.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("an endlessly nested text is reported as damaged and does not end the process",
          "[trainer][saving]") {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  CHECK_FALSE(parse_manifest("{\"digest\":" + deep + "}", "manifest.json"));
  CHECK_FALSE(parse_model("{\"version\":1,\"model\":" + deep + "}", "model.json"));
  CHECK_FALSE(parse_evaluations("{\"version\":1,\"evaluations\":" + deep + "}"));
}
