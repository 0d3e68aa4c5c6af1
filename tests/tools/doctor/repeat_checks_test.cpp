#include "tools/doctor/repeat_checks.h"

#include "tests/actors/transform/columns_fixture.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("columns that repeat together are proposed as a group", "[tools][doctor]") {
  test::Columns columns(400);
  std::vector<float> age;
  std::vector<float> position;
  std::vector<std::int64_t> item;
  test::Lists history;
  test::Lists seen;
  for (int row = 0; row < 400; ++row) {
    age.push_back(static_cast<float>(row / 8));
    position.push_back(static_cast<float>(row));
    item.push_back(row);
    history.push_back({row / 8, row / 8 + 1, row / 8 + 2, row / 8 + 3});
    seen.push_back({(row + 3) / 5, 2, 3, 4});
  }
  columns.dense("age", age).dense("position", position);
  columns.sparse("history", history).sparse("seen", seen).ids("item", item);
  const auto groups = suggest_groups(columns.set());
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].features == FeatureGroup{.dense = {0}, .sparse = {0}});
  CHECK(groups[0].ratio() == 8);
  // 4 + 32 of 4 + 4 + 32 + 32 + 8 bytes a row.
  CHECK(groups[0].share == Approx(36.0 / 80));
  CHECK(groups[1].features == FeatureGroup{.dense = {}, .sparse = {1}});
}

TEST_CASE("columns that hardly repeat, or are small, are not proposed", "[tools][doctor]") {
  test::Columns columns(100);
  std::vector<float> constant(100, 1);
  test::Lists lists;
  for (int row = 0; row < 100; ++row) lists.push_back({row, row, row, row, row});
  columns.dense("constant", constant).sparse("lists", lists);
  CHECK(suggest_groups(columns.set()).empty());
}

}  // namespace
}  // namespace forebay
