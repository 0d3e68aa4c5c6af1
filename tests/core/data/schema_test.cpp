#include "core/data/schema.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("the first name in which two schemas differ is reported with its position", "[data]") {
  const Schema want{.dense = {"a", "b"}, .sparse = {{"s", 5}, {"t"}}};
  CHECK(difference_in_names(want, want).empty());
  CHECK(difference_in_names({.dense = {"a", "b"}, .sparse = {{"s", 6}, {"t"}}}, want).empty());
  CHECK(difference_in_names({.dense = {"b", "a"}, .sparse = {{"s"}, {"t"}}}, want) ==
        "dense column 1 is \"b\", not \"a\"");
  CHECK(difference_in_names({.dense = {"a"}, .sparse = {{"t"}, {"s"}}}, want) ==
        "dense column 2 is missing, not \"b\"");
  CHECK(difference_in_names({.dense = {"a", "b"}, .sparse = {{"s"}, {"t"}, {"u"}}}, want) ==
        "sparse column 3 is \"u\", not missing");
}
