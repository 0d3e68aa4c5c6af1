#include "tuner/agent/intune.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription description_of_names(const std::vector<std::string>& names) {
  PipelineDescription description;
  for (const std::string& name : names) description.stages.push_back({.name = name});
  return description;
}

LearnedState some() {
  return {.description = description_of_names({"load", "decode"}),
          .stages = {{1, 2.5}, {}},
          .last_layer = {0.5F, -1}};
}

TEST_CASE("learned state is the same after encoding and decoding it", "[tuner][agent]") {
  const auto again = decode_learned_state(encode_learned_state(some()), some().description);
  REQUIRE(again);
  CHECK(again->stages == some().stages);
  CHECK(again->last_layer == some().last_layer);
}

TEST_CASE("learned state of other stages is not used", "[tuner][agent]") {
  CHECK_FALSE(
      decode_learned_state(encode_learned_state(some()), description_of_names({"load", "udf"})));
}

TEST_CASE("damaged learned state is not used", "[tuner][agent]") {
  const std::string whole = encode_learned_state(some());
  CHECK_FALSE(decode_learned_state(whole.substr(0, whole.size() / 2), some().description));
  CHECK_FALSE(decode_learned_state("", some().description));
  CHECK_FALSE(decode_learned_state("[1,2]", some().description));
  std::string newer = whole;
  newer.replace(newer.find("\"version\":1"), 11, "\"version\":2");
  CHECK_FALSE(decode_learned_state(newer, some().description));
  std::string deep = whole;
  deep.replace(deep.find("\"version\":1"), 11,
               "\"version\":" + std::string(100'000, '[') + std::string(100'000, ']'));
  CHECK_FALSE(decode_learned_state(deep, some().description));
  std::string strange = whole;
  strange.replace(strange.find("2.5"), 3, "\"x\"");
  CHECK_FALSE(decode_learned_state(strange, some().description));
}

}  // namespace
}  // namespace forebay::tuner
