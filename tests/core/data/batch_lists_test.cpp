#include "core/data/batch_lists.h"

#include <algorithm>

#include "tests/support/list_batch.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Numbers = std::vector<std::uint32_t>;

/// Four rows of three features; rows 0 and 2 share the lists of features 0 and 2, which are stored
/// once: {1, 2}, {}, {3} and {7}, {8, 9}, {}.
struct BatchFixture {
  Numbers numbers{0, 1, 0, 2};
  Numbers first_rows{0, 1, 3};
  std::vector<std::int32_t> lengths{2, 0, 2, 1, 1, 0, 0, 2, 1, 2, 1, 0};
  std::vector<std::int64_t> ids{1, 2, 3, 4, 5, 6, 7, 8, 9};
  Batch batch = test::batch_of(4, lengths, ids);

  BatchFixture() { test::share_lists(batch, {0, 2}, numbers, first_rows); }
};

std::vector<std::vector<std::int64_t>> lists_of(const BatchLists& lists, std::size_t feature) {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto list : lists.ids(feature)) all.emplace_back(list.begin(), list.end());
  return all;
}

Numbers copy_of(std::span<const std::uint32_t> numbers) { return {numbers.begin(), numbers.end()}; }

}  // namespace

TEST_CASE_METHOD(BatchFixture, "lists that rows share are there once, in the order of first rows",
                 "[data]") {
  const BatchLists lists(batch);
  using Lists = std::vector<std::vector<std::int64_t>>;
  CHECK(lists_of(lists, 0) == Lists{{1, 2}, {}, {3}});
  CHECK(lists_of(lists, 1) == Lists{{4}, {}, {}, {5, 6}});
  CHECK(lists_of(lists, 2) == Lists{{7}, {8, 9}, {}});
  CHECK(lists.first_id(3) == 9);
  CHECK(lists.number(0, 2) == 0);
  CHECK(lists.number(1, 2) == 2);
  CHECK(lists.repeats(1) == nullptr);
  CHECK(std::ranges::equal(lists.all_ids(1), std::vector<std::int64_t>{4, 5, 6}));
}

TEST_CASE_METHOD(BatchFixture, "a batch that has the ids of all rows has a list for each row",
                 "[data]") {
  batch.lists_once = false;
  const BatchLists lists(batch);
  CHECK(lists.count(0) == 4);
  CHECK(lists.number(0, 2) == 2);
}

TEST_CASE_METHOD(BatchFixture, "numbers of lists are sound if they ascend with their first rows",
                 "[data]") {
  CHECK(are_sound(batch.repeats, 4));
  SECTION("a number without a first row") { numbers[3] = 3; }
  SECTION("another first row") { first_rows[1] = 2; }
  SECTION("a number of no row") { numbers[3] = 1; }
  SECTION("more numbers than are said") { batch.repeats[0].unique = 2; }
  CHECK_FALSE(are_sound(batch.repeats, 4));
}

TEST_CASE_METHOD(BatchFixture, "rows that are appended one run after another share nothing",
                 "[data]") {
  OwnedRepeats cut;
  cut.append(batch.repeats[0], 1, 3);
  CHECK(copy_of(cut.numbers()) == Numbers{0, 1});
  CHECK(copy_of(cut.first_rows()) == Numbers{0, 1});
  cut.append(batch.repeats[0], 0, 4);
  CHECK(copy_of(cut.numbers()) == Numbers{0, 1, 2, 3, 2, 4});
  CHECK(copy_of(cut.first_rows()) == Numbers{0, 1, 2, 3, 5});
  const BatchRepeats repeats = cut.of({.sparse = {1}});
  CHECK(repeats.unique == 5);
  CHECK(are_sound({&repeats, 1}, 6));
  cut.clear();
  CHECK(cut.numbers().empty());
}
