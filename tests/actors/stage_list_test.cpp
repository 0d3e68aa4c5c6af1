#include "actors/stage_list.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Operators of which only the stages matter; "": no stage given.
std::vector<TransformSpec> operators(const std::vector<std::string>& stages) {
  std::vector<TransformSpec> list;
  for (const std::string& stage : stages) {
    list.push_back({.op = "log1p", .columns = {}, .params = {}, .stage = stage});
  }
  return list;
}

/// The stages behind load, decode and shuffle: `name[first, end)`.
std::string cut(const std::vector<std::string>& stages) {
  const auto list = stages_of(operators(stages));
  if (!list) return list.error().message;
  REQUIRE(list->size() > 3);
  std::string text;
  for (std::size_t i = 3; i < list->size(); ++i) {
    const StageInfo& stage = (*list)[i];
    CHECK(stage.kind == StageInfo::Kind::kTransform);
    text += stage.name + "[" + std::to_string(stage.first_op) + ", " +
            std::to_string(stage.end_op) + ") ";
  }
  return text;
}

TEST_CASE("an operator in Python begins a stage of its own", "[actors][stage_list]") {
  auto list = operators({"", "", "", "", "named"});
  for (const std::size_t op : {1U, 3U, 4U}) list[op].op = kPythonOp;
  const auto stages = stages_of(list);
  REQUIRE(stages);
  CHECK(names_of(*stages) == "load, decode, shuffle, transform, python, python-2, named");
  CHECK((*stages)[4].end_op == 3);  // log1p behind it joins it
}

TEST_CASE("a stage that the job calls python does not stop another", "[actors][stage_list]") {
  auto list = operators({"python", ""});
  list[1].op = kPythonOp;
  const auto stages = stages_of(list);
  REQUIRE(stages);
  CHECK(names_of(*stages) == "load, decode, shuffle, python, python-2");
}

TEST_CASE("load, decode and shuffle come first, also without operators", "[actors][stage_list]") {
  const auto stages = stages_of({});
  REQUIRE(stages);
  CHECK(names_of(*stages) == "load, decode, shuffle, transform");
  CHECK((*stages)[0].kind == StageInfo::Kind::kLoad);
  CHECK((*stages)[1].kind == StageInfo::Kind::kDecode);
  CHECK((*stages)[2].kind == StageInfo::Kind::kShuffle);
  CHECK(cut({}) == "transform[0, 0) ");
}

TEST_CASE("neighbours with one name are one stage, an operator without one joins it",
          "[actors][stage_list]") {
  CHECK(cut({"", ""}) == "transform[0, 2) ");
  CHECK(cut({"", "embed", "", "embed", "rank"}) == "transform[0, 1) embed[1, 4) rank[4, 5) ");
  CHECK(cut({"embed", "", "rank"}) == "embed[0, 2) rank[2, 3) ");
  CHECK(cut({"transform", ""}) == "transform[0, 2) ");
  CHECK(cut({"embed", "transform"}) == "embed[0, 1) transform[1, 2) ");
  CHECK(cut({"a23456789-123456789_123456789z12"}) == "a23456789-123456789_123456789z12[0, 1) ");
}

TEST_CASE("a name that is none, or another stage's, is refused with its key",
          "[actors][stage_list]") {
  for (const char* name : {"Embed", "1st", "-a", "a b", "a.b", "\xc3\xa9", "a\n",
                           "a23456789-123456789_123456789z123"}) {
    INFO(name);
    const std::string refused = cut({"", name});
    CHECK(refused.starts_with("[[transform]] number 2: stage \""));
    CHECK_THAT(refused,
               Catch::EndsWith("must be a letter a-z and at most 31 more of a-z, 0-9, _ and -"));
    CHECK(refused.find('\n') == std::string::npos);
  }
  for (const char* name : {"load", "decode", "shuffle", "batch"}) {
    CHECK(cut({name}) == std::string("[[transform]] number 1: stage \"") + name +
                             "\" is the name of another stage; choose one that is none of load, "
                             "decode, shuffle, batch");
  }
  CHECK(cut({"embed", "rank", "", "embed"}) ==
        "[[transform]] number 4: stage \"embed\" ended at [[transform]] number 1; operators of one "
        "stage must be "
        "neighbours");
  CHECK_THAT(cut({"", "embed", "transform"}), Catch::Contains("\"transform\" ended at"));
}

TEST_CASE("a pipeline has at most 64 stages", "[actors][stage_list]") {
  std::vector<std::string> names;
  for (int i = 0; i < 61; ++i) names.push_back("s" + std::to_string(i));
  CHECK(stages_of(operators(names))->size() == kMostStages);
  names.emplace_back("last");
  CHECK(cut(names) ==
        "[[transform]] number 62: stage \"last\" is one stage too many; at most 64 are possible");
}

}  // namespace
}  // namespace forebay
