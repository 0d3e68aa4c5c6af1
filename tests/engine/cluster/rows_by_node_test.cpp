#include "engine/cluster/trainer_view.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Rows = std::map<std::string, std::uint64_t>;

Position at(std::uint64_t epoch, std::uint64_t split, std::uint64_t rows = 0) {
  Position position;
  position.epoch = epoch;
  position.split = split;
  position.open_split = split;
  position.split_rows = rows;
  return position;
}

TEST_CASE("rows count for a node when the trainer has them", "[tools][cluster]") {
  RowsByNode rows(10);
  rows.made(0, "a", 100);
  rows.made(1, "b", 90);
  rows.made(2, "a", 80);
  CHECK(rows.at(at(0, 0)).empty());
  rows.given(at(0, 2));
  CHECK(rows.at(at(0, 2)) == Rows{{"a", 100}, {"b", 90}});
  rows.given(at(1, 0));
  CHECK(rows.at(at(1, 0)) == Rows{{"a", 180}, {"b", 90}});
}

TEST_CASE("of an open split only the rows given out count", "[tools][cluster]") {
  RowsByNode rows(10);
  rows.made(10, "a", 100);
  rows.made(11, "b", 90);
  rows.given(at(1, 1, 30));
  CHECK(rows.at(at(1, 1, 30)) == Rows{{"a", 100}, {"b", 30}});
  rows.given(at(1, 2));
  CHECK(rows.at(at(1, 2)) == Rows{{"a", 100}, {"b", 90}});
}

TEST_CASE("of a split in which a run resumes only its own rows count", "[tools][cluster]") {
  RowsByNode rows(10);
  rows.begin(at(1, 1, 30));
  rows.made(11, "b", 90);
  rows.made(12, "a", 80);
  rows.given(at(1, 1, 40));
  CHECK(rows.at(at(1, 1, 40)) == Rows{{"b", 10}});
  rows.given(at(1, 2));
  CHECK(rows.at(at(1, 2, 5)) == Rows{{"b", 60}, {"a", 5}});
}

TEST_CASE("splits that were given out ahead of others count once", "[tools][cluster]") {
  RowsByNode rows(10);
  for (std::uint64_t split = 0; split < 4; ++split) rows.made(split, "a", 10);
  Position position = at(0, 1, 3);
  position.ahead = {2};
  position.open_split = 2;
  rows.given(position);
  CHECK(rows.at(position) == Rows{{"a", 10 + 10 + 3}});
  rows.given(at(0, 4));
  CHECK(rows.at(at(0, 4)) == Rows{{"a", 40}});
}

TEST_CASE("a split that the trainer had before its maker was named counts at once",
          "[tools][cluster]") {
  RowsByNode rows(10);
  rows.given(at(0, 3));
  rows.made(2, "b", 70);
  CHECK(rows.at(at(0, 3)) == Rows{{"b", 70}});
}

}  // namespace
}  // namespace forebay
