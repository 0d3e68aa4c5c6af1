#include "engine/job/job_document.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

JobDocument two_transforms() {
  return *parse_toml("[[transform]]\nop = \"log1p\"\n[[transform]]\nop = \"clamp\"\n", "job.toml");
}

}  // namespace

TEST_CASE("an assignment of a list of tables replaces all transforms", "[tools][job]") {
  JobDocument document = two_transforms();
  const std::string set = R"(transform=[{op="log1p",columns=["a","b"]}])";
  REQUIRE(apply_set(document, set));
  REQUIRE(document.transforms.size() == 1);
  const auto& values = document.transforms[0].values;
  CHECK(values.at("op").value == ParamValue(std::string("log1p")));
  CHECK(values.at("columns").value == ParamValue(std::vector<std::string>{"a", "b"}));
  CHECK(document.transforms[0].where == "--set " + set + ", line 1");
  REQUIRE(apply_set(document, "transform.0.op = clamp"));
  CHECK(document.transforms[0].values.at("op").value == ParamValue(std::string("clamp")));
  REQUIRE(apply_set(document, "transform = []"));
  CHECK(document.transforms.empty());
  CHECK(document.values.empty());
}

TEST_CASE("transforms are replaced by nothing but a list of tables", "[tools][job]") {
  for (const char* set : {"transform=3", "transform=[1,2]", "transform={op=\"log1p\"}",
                          "transform=[{op=\"log1p\"}]\nx=1"}) {
    INFO(set);
    JobDocument document = two_transforms();
    REQUIRE(apply_set(document, set));
    CHECK(document.values.contains("transform"));  // read_keys() refuses it.
    CHECK(document.transforms.size() == 2);
  }
  JobDocument document = two_transforms();
  const Status refused = apply_set(document, "transform=[{op=1979-05-27}]");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("transform.op must be") != std::string::npos);
}

}  // namespace forebay
