#include "actors/stage_groups.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Names = std::vector<std::vector<std::string>>;

StageList stages_for(const std::vector<TransformSpec>& operators) {
  auto stages = stages_of(operators);
  REQUIRE(stages);
  return *stages;
}

TransformSpec step(const std::string& op, const std::string& stage = "") {
  return {.op = op, .columns = {}, .params = {}, .stage = stage};
}

/// The groups of a job with these operators.
Names grouped(const std::vector<TransformSpec>& operators, bool is_remote = false) {
  const StageList stages = stages_for(operators);
  return group_all(stages, operators, is_remote).names(stages);
}

std::string refused(const Names& names) {
  const auto groups = listed_groups(names, stages_for({step("log1p")}));
  return groups ? "" : groups.error().message;
}

TEST_CASE("stages without groups are apart", "[actors][stage_groups]") {
  const StageGroups apart = StageGroups::apart();
  CHECK(apart.firsts(4) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(apart.first(3) == 3);
  CHECK(apart.end(3) == 4);
  CHECK(apart.names(stages_for({})).empty());
}

TEST_CASE("a group reaches from its first stage to the last one that is joined",
          "[actors][stage_groups]") {
  const StageGroups groups({false, true, true});
  CHECK(groups.firsts(5) == std::vector<std::size_t>{0, 1, 4});
  CHECK(groups.first(3) == 1);
  CHECK(groups.end(1) == 4);
  CHECK(groups.end(0) == 1);
}

TEST_CASE("all stages that need no actors of their own are one group", "[actors][stage_groups]") {
  CHECK(grouped({}) == Names{{"load", "decode", "shuffle", "transform"}});
  CHECK(grouped({step("log1p")}, true) == Names{{"decode", "shuffle", "transform"}});
}

TEST_CASE("a user's function and a named stage keep actors of their own",
          "[actors][stage_groups]") {
  CHECK(grouped({step("log1p"), step("udf")}) == Names{{"load", "decode", "shuffle"}});
  CHECK(grouped({step("log1p"), step(kPythonOp)}) ==
        Names{{"load", "decode", "shuffle", "transform"}});
  CHECK(grouped({step("log1p"), step("log1p", "own")}) ==
        Names{{"load", "decode", "shuffle", "transform"}});
}

TEST_CASE("a job may list its groups, also with bound stages", "[actors][stage_groups]") {
  const std::vector<TransformSpec> operators{step("log1p"), step("udf", "own")};
  const StageList stages = stages_for(operators);
  const auto groups = listed_groups({{"load", "decode"}, {"transform", "own"}}, stages);
  REQUIRE(groups);
  CHECK(groups->names(stages) == Names{{"load", "decode"}, {"transform", "own"}});
  const auto none = listed_groups({}, stages);
  REQUIRE(none);
  CHECK(none->names(stages).empty());
}

TEST_CASE("groups that cannot be are refused by name", "[actors][stage_groups]") {
  CHECK(refused({{"load", "parse"}}) ==
        "pipeline.fuse: parse is no stage that can be fused; this job has load, decode, shuffle, "
        "transform");
  CHECK(refused({{"load", "shuffle"}}) ==
        "pipeline.fuse: shuffle does not follow load; the stages are load, decode, shuffle, "
        "transform");
  CHECK(refused({{"decode", "load"}}).starts_with("pipeline.fuse: load does not follow decode"));
  CHECK(refused({{"load", "decode"}, {"decode", "shuffle"}}) ==
        "pipeline.fuse: decode is listed twice");
}

TEST_CASE("a group starts with the most actors of its stages", "[actors][stage_groups]") {
  const StageGroups groups({true, true, false});
  CHECK(start_actors(groups, {1, 3, 1, 2}, 8, false) == std::vector<std::uint32_t>{3, 3, 3, 2});
}

TEST_CASE("a spread group starts with an actor for each stage that the CPUs can serve",
          "[actors][stage_groups]") {
  const StageGroups groups({true, true, false});
  CHECK(start_actors(groups, {1, 1, 1, 1}, 2, true) == std::vector<std::uint32_t>{2, 2, 2, 1});
  CHECK(start_actors(groups, {1, 1, 1, 1}, 64, true) == std::vector<std::uint32_t>{3, 3, 3, 1});
}

}  // namespace
}  // namespace forebay
