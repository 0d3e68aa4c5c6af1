#include "tuner/agent/learned_state.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription layout_of_names(const std::vector<std::string>& names) {
  PipelineDescription layout;
  for (const std::string& name : names) layout.stages.push_back({.name = name});
  return layout;
}

LearnedState some() {
  return {.layout = layout_of_names({"load", "decode"}),
          .stages = {{1, 2.5}, {}},
          .last_layer = {0.5F, -1}};
}

TEST_CASE("experience comes back as it was", "[tuner][agent]") {
  const auto again = decode_experience(encode_experience(some()), some().layout);
  REQUIRE(again);
  CHECK(again->stages == some().stages);
  CHECK(again->last_layer == some().last_layer);
}

TEST_CASE("experience of other stages is not used", "[tuner][agent]") {
  CHECK_FALSE(decode_experience(encode_experience(some()), layout_of_names({"load", "udf"})));
}

TEST_CASE("damaged experience is not used", "[tuner][agent]") {
  const std::string whole = encode_experience(some());
  CHECK_FALSE(decode_experience(whole.substr(0, whole.size() / 2), some().layout));
  CHECK_FALSE(decode_experience("", some().layout));
  CHECK_FALSE(decode_experience("[1,2]", some().layout));
  std::string newer = whole;
  newer.replace(newer.find("\"version\":1"), 11, "\"version\":2");
  CHECK_FALSE(decode_experience(newer, some().layout));
  std::string deep = whole;
  deep.replace(deep.find("\"version\":1"), 11,
               "\"version\":" + std::string(100'000, '[') + std::string(100'000, ']'));
  CHECK_FALSE(decode_experience(deep, some().layout));
  std::string strange = whole;
  strange.replace(strange.find("2.5"), 3, "\"x\"");
  CHECK_FALSE(decode_experience(strange, some().layout));
}

}  // namespace
}  // namespace forebay::tuner
