#include "actors/format/column_choice.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

const std::vector<std::string> kNames{"", "click", "age", "age_2", "a*", "twin", "twin", "city"};

std::string refusal(const ColumnSpec& spec) {
  const auto choice = choose_columns(spec, kNames);
  return choice ? "accepted" : choice.error().message;
}

TEST_CASE("columns come in the order given and globs in file order", "[format][columns]") {
  const auto choice =
      choose_columns({.label = "click", .dense = {"city", "age*"}, .sparse = {"a[*]"}}, kNames);
  REQUIRE(choice);
  CHECK(choice->label == 1);
  CHECK(choice->dense == std::vector<std::size_t>{7, 2, 3});
  CHECK(choice->sparse == std::vector<std::size_t>{4});
  CHECK(choice->schema.dense == std::vector<std::string>{"city", "age", "age_2"});
  CHECK(choice->schema.sparse == std::vector<SparseFeature>{{.name = "a*"}});
}

TEST_CASE("a pattern that is a column's whole name means that column alone", "[format][columns]") {
  const auto choice = choose_columns({.label = "click", .dense = {"a*"}, .sparse = {}}, kNames);
  REQUIRE(choice);
  CHECK(choice->dense == std::vector<std::size_t>{4});
}

TEST_CASE("weight and extra columns are chosen as features are", "[format][columns]") {
  const auto choice = choose_columns({.label = "click",
                                      .dense = {"city"},
                                      .label_threshold = 4.5,
                                      .weight = "age_?",
                                      .extra = {"a[*]", "age"}},
                                     kNames);
  REQUIRE(choice);
  CHECK(choice->label_threshold == 4.5);
  CHECK(choice->weight == 3U);
  CHECK(choice->extra == std::vector<std::size_t>{4, 2});
  CHECK(choice->schema.weight);
  CHECK(choice->schema.extra == std::vector<ExtraColumn>{{.name = "a*"}, {.name = "age"}});
  const auto without = choose_columns({.label = "click", .dense = {"city"}}, kNames);
  REQUIRE(without);
  CHECK(!without->weight);
  CHECK(!without->schema.weight);
  CHECK(without->schema.extra.empty());
}

TEST_CASE("a column is label, feature, weight or extra, never two of them", "[format][columns]") {
  CHECK(refusal({.label = "click", .dense = {"age"}, .weight = "age"}) ==
        "columns.weight: column \"age\" is already used by columns.dense; name it once");
  CHECK(refusal({.label = "click", .sparse = {"city"}, .extra = {"city"}}) ==
        "columns.extra: column \"city\" is already used by columns.sparse; name it once");
  CHECK(refusal({.label = "click", .dense = {"age"}, .extra = {"click"}}) ==
        "columns.extra: column \"click\" is already used by columns.label; name it once");
  CHECK(refusal({.label = "click", .dense = {"age"}, .weight = "city", .extra = {"city"}}) ==
        "columns.extra: column \"city\" is already used by columns.weight; name it once");
  CHECK(refusal({.label = "click", .dense = {"age"}, .extra = {"city", "cit*"}}) ==
        "columns.extra: column \"city\" is already used by columns.extra; name it once");
  CHECK(refusal({.label = "click", .dense = {"city"}, .weight = "age*"}) ==
        "columns.weight: \"age*\" matches 2 columns; name one");
  CHECK(refusal({.label = "click", .dense = {"age"}, .weight = "cty"}) ==
        "columns.weight: no column matches \"cty\"; did you mean \"city\"?");
  CHECK(refusal({.label = "click", .dense = {"age"}, .extra = {"cty"}}) ==
        "columns.extra: no column matches \"cty\"; did you mean \"city\"?");
}

TEST_CASE("an impossible column choice is refused by key and column", "[format][columns]") {
  CHECK(refusal({.label = "", .dense = {"age"}}) ==
        "columns.label: no label column is given; name the column that holds 0 or 1");
  CHECK(refusal({.label = "clik", .dense = {"age"}}) ==
        "columns.label: no column matches \"clik\"; did you mean \"click\"?");
  CHECK(refusal({.label = "age*", .dense = {"city"}}) ==
        "columns.label: \"age*\" matches 2 columns; name one");
  CHECK(refusal({.label = "click"}) ==
        "columns: no features are given; name some under dense or sparse");
  CHECK(refusal({.label = "click", .dense = {"zzzzzz*"}}) ==
        "columns.dense: no column matches \"zzzzzz*\"");
  CHECK(refusal({.label = "click", .dense = {"age"}, .sparse = {"age"}}) ==
        "columns.sparse: column \"age\" is already used by columns.dense; name it once");
  CHECK(refusal({.label = "click", .dense = {"click"}}) ==
        "columns.dense: column \"click\" is already used by columns.label; name it once");
  CHECK(refusal({.label = "click", .sparse = {"twin"}}) ==
        "columns.sparse: \"twin\" is the name of two columns in the header; rename one");
}

TEST_CASE("a group of repeated columns names features only, or why a column is none is said",
          "[format][columns]") {
  const auto grouped = [](const std::string& name) {
    return refusal({.label = "click",
                    .dense = {"age"},
                    .weight = "age_2",
                    .extra = {"city"},
                    .dedup = {{"age", name}}});
  };
  const std::string rest = ", and a group has dense and sparse columns only; leave it out";
  CHECK(grouped("click") == "columns.dedup: \"click\" is the label" + rest);
  CHECK(grouped("age_2") == "columns.dedup: \"age_2\" is the weight" + rest);
  CHECK(grouped("city") == "columns.dedup: \"city\" is an extra column" + rest);
  CHECK(grouped("twin") == "columns.dedup: no dense or sparse column matches \"twin\"");
}

TEST_CASE("two columns may share a name that the job does not use", "[format][columns]") {
  CHECK(refusal({.label = "click", .dense = {"age"}}) == "accepted");
}

}  // namespace
}  // namespace forebay
