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

TEST_CASE("two columns may share a name that the job does not use", "[format][columns]") {
  CHECK(refusal({.label = "click", .dense = {"age"}}) == "accepted");
}

}  // namespace
}  // namespace forebay
