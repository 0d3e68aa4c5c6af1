#include "actors/format/parquet/wanted_columns.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

Leaf leaf(const std::string& name, Meaning meaning, std::uint8_t lists = 0) {
  return {.name = name, .type = "its type", .meaning = meaning, .most_repetition = lists};
}

using Leaves = std::vector<Leaf>;

/// The leaves of a file whose columns `d`, `s`, `l` and `x` are of type null.
Leaves nulls() {
  return {leaf("label", Meaning::kSigned), leaf("d", Meaning::kNull), leaf("s", Meaning::kNull),
          leaf("l", Meaning::kNull), leaf("x", Meaning::kNull)};
}

/// Those of a file in which they hold values.
Leaves known() {
  return {leaf("x", Meaning::kFloat), leaf("l", Meaning::kText, 1), leaf("s", Meaning::kText),
          leaf("d", Meaning::kDate), leaf("label", Meaning::kSigned)};
}

const ColumnSpec kSpec{.label = "label", .dense = {"d"}, .sparse = {"s", "l"}, .extra = {"x"}};

TEST_CASE("a column of type null is of the kind that the other files have", "[actors][parquet]") {
  const auto wanted = want_columns(kSpec, known());
  REQUIRE(wanted);
  CHECK_FALSE(lacks_kinds(*wanted));
  CHECK(locate_columns(*wanted, nulls()).value() == std::vector<std::size_t>{0, 1, 2, 3, 4});
  Leaves lists = nulls();
  lists[3].most_repetition = 1;  // a list of nulls is a list of text, but no text
  CHECK(locate_columns(*wanted, lists));
  lists[2].most_repetition = 1;
  CHECK(locate_columns(*wanted, lists).error().message ==
        "column \"s\" is of another kind (list of null) than in the dataset's first file (text); "
        "convert one of the two");
}

TEST_CASE("a later file gives the kinds that are null in the first", "[actors][parquet]") {
  Leaves leaves = nulls();
  CHECK(lacks_kinds(*want_columns(kSpec, leaves)));
  CHECK_FALSE(take_kinds(leaves, nulls()));
  CHECK_FALSE(take_kinds(leaves, {leaf("other", Meaning::kText)}));
  CHECK(take_kinds(leaves, {leaf("l", Meaning::kText, 1)}));
  CHECK(lacks_kinds(*want_columns(kSpec, leaves)));
  CHECK(take_kinds(leaves, known()));
  const auto wanted = want_columns(kSpec, leaves);
  REQUIRE(wanted);
  CHECK_FALSE(lacks_kinds(*wanted));
  CHECK(wanted->schema.extra.front().kind == ExtraColumn::Kind::kFloat64);
  CHECK(locate_columns(*wanted, known()));
  CHECK(locate_columns(*wanted, nulls()));
}

TEST_CASE("a column of type null in every file is read, as a list too", "[actors][parquet]") {
  Leaves leaves = nulls();
  leaves[3].most_repetition = 1;
  const auto wanted = want_columns(kSpec, leaves);
  REQUIRE(wanted);
  CHECK(lacks_kinds(*wanted));
  CHECK(locate_columns(*wanted, leaves));
  CHECK(locate_columns(*wanted, known()).error().message.find("(null)") != std::string::npos);
}

TEST_CASE("a list of fixed size is no column of type null", "[actors][parquet]") {
  Leaves leaves = known();
  leaves[3] = leaf("d", Meaning::kFloat, 1);
  leaves[3].list_size = 2;
  const auto wanted = want_columns(kSpec, leaves);
  REQUIRE(wanted);
  CHECK(locate_columns(*wanted, nulls()).error().message ==
        "column \"d\" is of another kind (null) than in the dataset's first file (list of 2 "
        "numbers); convert one of the two");
}

}  // namespace
}  // namespace forebay::parquet
